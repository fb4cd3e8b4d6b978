// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @tile_take1_column(%a: !tile.tile<7xf32, column>, %n: !tile.tile<4xi32, row>) {
  // expected-error @+1 {{expects a row of f32 and one of i32 or f32, but got '!tile.tile<7xf32, column>' and '!tile.tile<4xi32, row>'}}
  %t = tile.take %a by %n : !tile.tile<7xf32, column>, !tile.tile<4xi32, row> -> !tile.tile<4xf32, row>
  return
}

// -----

func.func @tile_take1_numbers_of_bf16(%a: !tile.tile<7xf32, row>, %n: !tile.tile<4xbf16, row>) {
  // expected-error @+1 {{expects a row of f32 and one of i32 or f32, but got '!tile.tile<7xf32, row>' and '!tile.tile<4xbf16, row>'}}
  %t = tile.take %a by %n : !tile.tile<7xf32, row>, !tile.tile<4xbf16, row> -> !tile.tile<4xf32, row>
  return
}

// -----

func.func @tile_take2_more_than_numbers(%a: !tile.tile<7xf32, row>, %n: !tile.tile<4xi32, row>) {
  // expected-error @+1 {{expects a row of 4 f32, but got '!tile.tile<5xf32, row>'}}
  %t = tile.take %a by %n : !tile.tile<7xf32, row>, !tile.tile<4xi32, row> -> !tile.tile<5xf32, row>
  return
}
