// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @tile_top_k1_rows_of_other_lengths(%a: !tile.tile<7xf32, row>, %b: !tile.tile<8xf32, row>) {
  // expected-error @+1 {{expects one or two rows of as many f32, but got '!tile.tile<7xf32, row>', '!tile.tile<8xf32, row>'}}
  %v, %n = tile.top_k %a, %b : !tile.tile<7xf32, row>, !tile.tile<8xf32, row> -> !tile.tile<4xf32, row>, !tile.tile<4xi32, row>
  return
}

// -----

func.func @tile_top_k1_column(%a: !tile.tile<7xf32, column>) {
  // expected-error @+1 {{expects one or two rows of as many f32, but got '!tile.tile<7xf32, column>'}}
  %v, %n = tile.top_k %a : !tile.tile<7xf32, column> -> !tile.tile<4xf32, row>, !tile.tile<4xi32, row>
  return
}

// -----

func.func @tile_top_k2_more_than_there_are(%a: !tile.tile<3xf32, row>) {
  // expected-error @+1 {{expects rows of K f32 and of K i32 with K at most 3, but got '!tile.tile<4xf32, row>' and '!tile.tile<4xi32, row>'}}
  %v, %n = tile.top_k %a : !tile.tile<3xf32, row> -> !tile.tile<4xf32, row>, !tile.tile<4xi32, row>
  return
}

// -----

func.func @tile_top_k2_numbers_of_f32(%a: !tile.tile<7xf32, row>) {
  // expected-error @+1 {{expects rows of K f32 and of K i32 with K at most 7, but got '!tile.tile<4xf32, row>' and '!tile.tile<4xf32, row>'}}
  %v, %n = tile.top_k %a : !tile.tile<7xf32, row> -> !tile.tile<4xf32, row>, !tile.tile<4xf32, row>
  return
}
