// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @splice1_box_of_other_rows(%a: !tile.view<?x64xf32, [64, 1]>, %i: index) {
  // expected-error @+1 {{expects 'sizes' to hold the tile's dimensions 16, 64, but got 8, 64}}
  %k = tile.splice %a[%i, %i] sizes [16, 64], %a[%i, %i] sizes [8, 64] rows(%i, %i)
      : !tile.view<?x64xf32, [64, 1]>, !tile.view<?x64xf32, [64, 1]> -> !tile.tile<16x64xf32, operand>
  return
}

// -----

func.func @splice1_too_few_indices(%a: !tile.view<?x64xf32, [64, 1]>, %i: index) {
  // expected-error @+1 {{expects 2 indices and sizes, one for each dimension of the view, but got 1 and 2}}
  %k = tile.splice %a[%i] sizes [16, 64], %a[%i, %i] sizes [16, 64] rows(%i, %i)
      : !tile.view<?x64xf32, [64, 1]>, !tile.view<?x64xf32, [64, 1]> -> !tile.tile<16x64xf32, operand>
  return
}

// -----

func.func @splice2_row(%a: !tile.view<?x64xf32, [64, 1]>, %i: index) {
  // expected-error @+1 {{expects a block as its result, but got '!tile.tile<64xf32, row>'}}
  %k = tile.splice %a[%i, %i] sizes [1, 64], %a[%i, %i] sizes [1, 64] rows(%i, %i)
      : !tile.view<?x64xf32, [64, 1]>, !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64xf32, row>
  return
}
