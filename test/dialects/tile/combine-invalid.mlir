// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @combine1_column(
    %p: !tile.tile<64xf32, column, #tile.lin<threads = 128, lanes = 16, vector = 4>>) {
  // expected-error @+1 {{expects a row with a layout, but got '!tile.tile<64xf32, column}}
  %o = tile.combine add %p offset 0
      : !tile.tile<64xf32, column, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  return
}

// -----

func.func @combine2_offset(
    %p: !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>) {
  // expected-error @+1 {{expects 'offset' to be a multiple of 16, at least 0, but got 24}}
  %o = tile.combine add %p offset 24
      : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  return
}
// -----

func.func @combine2_offset_below_0(
    %p: !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>) {
  // expected-error @+1 {{expects 'offset' to be a multiple of 16, at least 0, but got -16}}
  %o = tile.combine add %p offset -16
      : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  return
}

// -----

func.func @combine1_no_layout(%p: !tile.tile<64xf32, row>) {
  // expected-error @+1 {{expects a row with a layout, but got '!tile.tile<64xf32, row>'}}
  %o = tile.combine add %p offset 0 : !tile.tile<64xf32, row>
  return
}
