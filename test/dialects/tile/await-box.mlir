// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The example of the op: boxes of a weight, which an mbarrier for each of three slots
// counts.
tile.kernel @example(%item, %w: !tile.view<768x192xbf16, [192, 1]>)
    items(#tile.items<one, tile = 1, times = 12>) writes() streamed(0) aligned(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 24600>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %row = arith.muli %item, %c64 : index
  // CHECK: tile.ring arrivals 24576 : <64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  %r = tile.ring arrivals 24576 : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  tile.barrier
  tile.fetch_box %w[%row, %c0] sizes [64, 64] into %r[%c0]
      : !tile.view<768x192xbf16, [192, 1]>, !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
  // CHECK: tile.await_box %{{.*}}[%{{.*}}] : <64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>> -> <64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
  %b = tile.await_box %r[%c0]
      : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
        -> !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
}
