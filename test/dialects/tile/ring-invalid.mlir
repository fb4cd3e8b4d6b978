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

// -----

func.func @ring2_odd() {
  // expected-error @+1 {{expects mbarriers at a multiple of 8 bytes and a swizzled tile, but got 24580}}
  %r = tile.ring arrivals 24580 : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  return
}

// -----

func.func @ring2_plain() {
  // expected-error @+1 {{expects mbarriers at a multiple of 8 bytes and a swizzled tile, but got 27648}}
  %r = tile.ring arrivals 27648 : !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>
  return
}
