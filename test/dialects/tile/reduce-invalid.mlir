// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @tile_reduce1_row_from_columns(%p: !tile.tile<4x6xf32, accumulator>) {
  // expected-error @+1 {{expects a result of type '!tile.tile<4xf32, column>', but got '!tile.tile<6xf32, row>'}}
  %o = tile.reduce add %p over columns : !tile.tile<4x6xf32, accumulator> -> !tile.tile<6xf32, row>
  return
}

// -----

func.func @tile_reduce1_scalar_from_block(%p: !tile.tile<4x6xf32, accumulator>) {
  // expected-error @+1 {{expects a result of type '!tile.tile<6xf32, row>', but got 'f32'}}
  %o = tile.reduce add %p over rows : !tile.tile<4x6xf32, accumulator> -> f32
  return
}

// -----

func.func @tile_reduce2(%p: !tile.tile<6xf32, row>) {
  // expected-error @+1 {{expects an f32 from a one-dimensional tile, but got '!tile.tile<1xf32, row>'}}
  %o = tile.reduce add %p over columns : !tile.tile<6xf32, row> -> !tile.tile<1xf32, row>
  return
}

// -----

func.func @tile_reduce3_missing(%p: !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>) {
  // expected-error @+1 {{expects 'scratch' to be a multiple of 16, at least 0, for a tile in registers}}
  %o = tile.reduce add %p over columns : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>> -> f32
  return
}

// -----

func.func @tile_reduce3_alignment(%p: !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>) {
  // expected-error @+1 {{expects 'scratch' to be a multiple of 16, at least 0, for a tile in registers}}
  %o = tile.reduce add %p over columns scratch 24 : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>> -> f32
  return
}
