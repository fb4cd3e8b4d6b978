// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @load1_indices(%x: !tile.view<?x24x64xf32, [3352, 64, 1]>, %a: !tile.tile<16x64xf32, operand>, %i: index) {
  // expected-error @+1 {{expects 3 indices and sizes, one for each dimension of the view, but got 2 and 3}}
  %l = tile.load %x[%i, %i] sizes [16, 1, 64] : !tile.view<?x24x64xf32, [3352, 64, 1]> -> !tile.tile<16x64xf32, operand>
  return
}

// -----

func.func @load1_sizes(%x: !tile.view<?x24x64xf32, [3352, 64, 1]>, %a: !tile.tile<16x64xf32, operand>, %i: index) {
  // expected-error @+1 {{expects 3 indices and sizes, one for each dimension of the view, but got 3 and 2}}
  %l = tile.load %x[%i, %i, %i] sizes [16, 64] : !tile.view<?x24x64xf32, [3352, 64, 1]> -> !tile.tile<16x64xf32, operand>
  return
}

// -----

func.func @load2_sizes_transposed(%x: !tile.view<?x24x64xf32, [3352, 64, 1]>, %a: !tile.tile<16x64xf32, operand>, %i: index) {
  // expected-error @+1 {{expects 'sizes' to hold the tile's dimensions 16, 64, but got 64, 1, 16}}
  %l = tile.load %x[%i, %i, %i] sizes [64, 1, 16] : !tile.view<?x24x64xf32, [3352, 64, 1]> -> !tile.tile<16x64xf32, operand>
  return
}

// -----

func.func @load3_columns_apart(%x: !tile.view<?x24x64xf32, [3352, 64, 1]>, %a: !tile.tile<16x24xf32, operand>, %i: index) {
  // expected-error @+1 {{expects the columns of a block to lie one element apart, but the view's stride is 64}}
  %l = tile.load %x[%i, %i, %i] sizes [16, 24, 1] : !tile.view<?x24x64xf32, [3352, 64, 1]> -> !tile.tile<16x24xf32, operand>
  return
}
