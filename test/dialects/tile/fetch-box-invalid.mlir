// RUN: effc-opt %s --split-input-file --verify-diagnostics

tile.kernel @fetchbox1_dynamic(%item, %w: !tile.view<?x192xbf16, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring arrivals 24576 : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{expects an operand of the kernel with two static dimensions and dense rows of floating-point numbers at multiples of 16 bytes, but got '!tile.view<?x192xbf16, [192, 1]>'}}
  tile.fetch_box %w[%c0, %c0] sizes [64, 64] into %r[%c0]
      : !tile.view<?x192xbf16, [192, 1]>, !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
}

// -----

tile.kernel @fetchbox1_pitch(%item, %w: !tile.view<768x192xbf16, [196, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring arrivals 24576 : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{expects an operand of the kernel with two static dimensions and dense rows of floating-point numbers at multiples of 16 bytes, but got '!tile.view<768x192xbf16, [196, 1]>'}}
  tile.fetch_box %w[%c0, %c0] sizes [64, 64] into %r[%c0]
      : !tile.view<768x192xbf16, [196, 1]>, !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
}

// -----

tile.kernel @fetchbox1_dimensions(%item, %w: !tile.view<2x768x192xbf16, [147456, 192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring arrivals 24576 : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{expects an operand of the kernel with two static dimensions and dense rows of floating-point numbers at multiples of 16 bytes, but got }}
  tile.fetch_box %w[%c0, %c0, %c0] sizes [1, 64, 64] into %r[%c0]
      : !tile.view<2x768x192xbf16, [147456, 192, 1]>, !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
}

// -----

tile.kernel @fetchbox2_plain_ring(%item, %w: !tile.view<768x192xbf16, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{expects a ring with 'arrivals' for boxes of the sizes, at most 256 rows of 128 bytes, and of the view's elements, but got }}
  tile.fetch_box %w[%c0, %c0] sizes [64, 64] into %r[%c0]
      : !tile.view<768x192xbf16, [192, 1]>, !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
}

// -----

tile.kernel @fetchbox2_sizes(%item, %w: !tile.view<768x192xbf16, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring arrivals 24576 : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{expects a ring with 'arrivals' for boxes of the sizes, at most 256 rows of 128 bytes, and of the view's elements, but got }}
  tile.fetch_box %w[%c0, %c0] sizes [32, 64] into %r[%c0]
      : !tile.view<768x192xbf16, [192, 1]>, !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
}

// -----

tile.kernel @fetchbox2_elements(%item, %w: !tile.view<768x192xf16, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring arrivals 24576 : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{expects a ring with 'arrivals' for boxes of the sizes, at most 256 rows of 128 bytes, and of the view's elements, but got }}
  tile.fetch_box %w[%c0, %c0] sizes [64, 64] into %r[%c0]
      : !tile.view<768x192xf16, [192, 1]>, !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
}

// -----

tile.kernel @fetchbox2_wide(%item, %w: !tile.view<768x192xf32, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 49176>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring arrivals 49152 : !tile.tile<64x64xf32, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{for boxes of the sizes, at most 256 rows of 128 bytes}}
  tile.fetch_box %w[%c0, %c0] sizes [64, 64] into %r[%c0]
      : !tile.view<768x192xf32, [192, 1]>, !tile.tile<64x64xf32, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
}

// -----

tile.kernel @fetchbox3(%item, %w: !tile.view<768x192xbf16, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring arrivals 24576 : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // expected-error @+1 {{expects an operand that the kernel lists in 'streamed' and 'aligned', but got operand 0}}
  tile.fetch_box %w[%c0, %c0] sizes [64, 64] into %r[%c0]
      : !tile.view<768x192xbf16, [192, 1]>, !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
}

// -----

// Before places are decided the ring's rows say whether boxes suit it.
tile.kernel @fetchbox2_plain_ring(%item, %w: !tile.view<768x192xbf16, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<decided = layouts, threads = 128>) {
  %c0 = arith.constant 0 : index
  %r = tile.ring : !tile.tile<48x64xbf16, operand, #tile.shared<threads = 128, stride = 72, slots = 3>>
  // expected-error @+1 {{expects a ring with 'arrivals' for boxes of the sizes}}
  tile.fetch_box %w[%c0, %c0] sizes [48, 64] into %r[%c0]
      : !tile.view<768x192xbf16, [192, 1]>, !tile.tile<48x64xbf16, operand, #tile.shared<threads = 128, stride = 72, slots = 3>>
}
