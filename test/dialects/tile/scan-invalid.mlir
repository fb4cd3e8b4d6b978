// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @tile_scan1(%a: !tile.tile<16xf32, row>) {
  // expected-error @+1 {{expects a column and gives one of its shape, but got '!tile.tile<16xf32, row>'}}
  %p = tile.scan %a : !tile.tile<16xf32, row>
  return
}

// -----

func.func @segment_decay1_row(%a: !tile.tile<16xf32, row>) {
  // expected-error @+1 {{expects a column of length C and a result of C x C, but got '!tile.tile<16xf32, row>' and '!tile.tile<16x16xf32, operand>'}}
  %l = tile.segment_decay %a : !tile.tile<16xf32, row> -> !tile.tile<16x16xf32, operand>
  return
}

// -----

func.func @segment_decay1_result(%a: !tile.tile<16xf32, column>) {
  // expected-error @+1 {{expects a column of length C and a result of C x C, but got '!tile.tile<16xf32, column>' and '!tile.tile<16x8xf32, operand>'}}
  %l = tile.segment_decay %a : !tile.tile<16xf32, column> -> !tile.tile<16x8xf32, operand>
  return
}

// -----

func.func @segment_decay2_missing(%a: !tile.tile<16xf32, column, #tile.shared<threads = 32, offset = 0, stride = 1>>) {
  // expected-error @+1 {{expects 'scratch' to be a multiple of 16, at least 0, for a tile in shared memory}}
  %l = tile.segment_decay %a : !tile.tile<16xf32, column, #tile.shared<threads = 32, offset = 0, stride = 1>> -> !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  return
}

// -----

func.func @segment_decay2_alignment(%a: !tile.tile<16xf32, column, #tile.shared<threads = 32, offset = 0, stride = 1>>) {
  // expected-error @+1 {{expects 'scratch' to be a multiple of 16, at least 0, for a tile in shared memory}}
  %l = tile.segment_decay %a scratch 8 : !tile.tile<16xf32, column, #tile.shared<threads = 32, offset = 0, stride = 1>> -> !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  return
}
