// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @ring1_one_slot() {
  // expected-error @+1 {{expects a tile in shared memory with several slots}}
  %r = tile.ring : !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36>>
  return
}

// -----

func.func @ring1_registers() {
  // expected-error @+1 {{expects a tile in shared memory with several slots}}
  %r = tile.ring : !tile.tile<64x32xf32, operand, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  return
}
