// RUN: effc-opt %s --split-input-file --verify-diagnostics

tile.kernel @awaitbox1_slots(%item, %w: !tile.view<768x192xbf16, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring arrivals 24576 : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{expects a ring with 'arrivals' and its tile with one slot, but got }}
  %b = tile.await_box %r[%c0] : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>> -> !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
}

// -----

tile.kernel @awaitbox1_plain_ring(%item, %w: !tile.view<768x192xbf16, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{expects a ring with 'arrivals' and its tile with one slot, but got }}
  %b = tile.await_box %r[%c0] : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>> -> !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
}
