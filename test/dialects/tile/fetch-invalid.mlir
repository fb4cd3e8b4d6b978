// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @fetch1_elements(%x: !tile.view<?x768xbf16, [768, 1]>, %i: index,
    %r: !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>) {
  // expected-error @+1 {{expects a ring of the view's elements}}
  tile.fetch %x[%i, %i] sizes [64, 32] into %r[%i]
      : !tile.view<?x768xbf16, [768, 1]>, !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>
  return
}

// -----

func.func @fetch1_sizes(%x: !tile.view<?x768xf32, [768, 1]>, %i: index,
    %r: !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>) {
  // expected-error @+1 {{expects 'sizes' to hold the tile's dimensions 64, 32, but got 32, 32}}
  tile.fetch %x[%i, %i] sizes [32, 32] into %r[%i]
      : !tile.view<?x768xf32, [768, 1]>, !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>
  return
}
