// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @tile_gather_rows1_three_dimensions(%t: !tile.view<7x2x5xf32, [16, 8, 1]>, %n: !tile.view<?x4xi32, [16, 1]>, %i: index) {
  // expected-error @+1 {{expects a view of two dimensions with columns one element apart, but got '!tile.view<7x2x5xf32, [16, 8, 1]>'}}
  %r = tile.gather_rows %t[%i] by %n[%i, %i] : !tile.view<7x2x5xf32, [16, 8, 1]>, !tile.view<?x4xi32, [16, 1]> -> !tile.tile<4x5xf32, operand>
  return
}

// -----

func.func @tile_gather_rows2_numbers_apart(%t: !tile.view<7x5xf32, [16, 1]>, %n: !tile.view<?x4xi32, [1, 16]>, %i: index) {
  // expected-error @+1 {{expects numbers of i32, the last dimension one element apart, and an index for each dimension, but got '!tile.view<?x4xi32, [1, 16]>' and 2 indices}}
  %r = tile.gather_rows %t[%i] by %n[%i, %i] : !tile.view<7x5xf32, [16, 1]>, !tile.view<?x4xi32, [1, 16]> -> !tile.tile<4x5xf32, operand>
  return
}

// -----

func.func @tile_gather_rows2_one_index(%t: !tile.view<7x5xf32, [16, 1]>, %n: !tile.view<?x4xi32, [16, 1]>, %i: index) {
  // expected-error @+1 {{an index for each dimension, but got '!tile.view<?x4xi32, [16, 1]>' and 1 indices}}
  %r = tile.gather_rows %t[%i] by %n[%i] : !tile.view<7x5xf32, [16, 1]>, !tile.view<?x4xi32, [16, 1]> -> !tile.tile<4x5xf32, operand>
  return
}

// -----

func.func @tile_gather_rows3_row(%t: !tile.view<7x5xf32, [16, 1]>, %n: !tile.view<?x4xi32, [16, 1]>, %i: index) {
  // expected-error @+1 {{expects a block of numbers as its result, but got '!tile.tile<5xf32, row>'}}
  %r = tile.gather_rows %t[%i] by %n[%i, %i] : !tile.view<7x5xf32, [16, 1]>, !tile.view<?x4xi32, [16, 1]> -> !tile.tile<5xf32, row>
  return
}
