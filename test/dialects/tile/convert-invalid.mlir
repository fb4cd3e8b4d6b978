// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @convert1_registers(%p: !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>) {
  // expected-error @+1 {{expects one tile in registers and one in shared memory}}
  %o = tile.convert %p : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
      -> !tile.tile<64xf32, row, #tile.mma<threads = 128, row_warps = 2>>
  return
}

// -----

func.func @convert1_no_layout(%p: !tile.tile<64xf32, row>) {
  // expected-error @+1 {{expects one tile in registers and one in shared memory}}
  %o = tile.convert %p : !tile.tile<64xf32, row> -> !tile.tile<64xf32, row, #tile.shared<threads = 128, offset = 0, stride = 64>>
  return
}

// -----

func.func @convert2(%p: !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>) {
  // expected-error @+1 {{expects the same tile in another layout}}
  %o = tile.convert %p : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
      -> !tile.tile<48xf32, row, #tile.shared<threads = 128, offset = 0, stride = 48>>
  return
}
