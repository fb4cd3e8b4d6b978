// RUN: effc-opt %s --tile-place-shared --split-input-file --verify-diagnostics | FileCheck %s
// RUN: effc-opt %s --tile-place-shared --tile-place-shared --split-input-file --verify-diagnostics | FileCheck %s

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// 32 rows of 24 f32 are 3072 bytes; 8 rows, rounded up to 16, are 1536 behind them.
// The second product reads the 32 rows again, but no longer the 8: what it reads besides,
// 24 rows rounded up to 32 of 40 f32, 5120 bytes, takes their place. Two warps meet to
// sum 8 columns in 64 bytes when all of that is read.
// CHECK-LABEL: tile.kernel @reused
// CHECK-SAME: schedule(#tile.schedule<decided = places, threads = 64, shared_bytes = 8192>)
// CHECK: tile.load {{.*}} -> <32x16xf32, operand, #tile.shared<threads = 64, offset = 0, stride = 24>>
// CHECK: tile.load {{.*}} -> <8x16xf32, operand, #tile.shared<threads = 64, offset = 3072, stride = 24>>
// CHECK: tile.load {{.*}} -> <24x16xf32, operand, #tile.shared<threads = 64, offset = 3072, stride = 40>>
// CHECK: tile.reduce add %{{.*}} over rows scratch 0
// CHECK-NOT: tile.barrier
tile.kernel @reused(%item, %x: !tile.view<?x16xf32, [16, 1]>, %w: !tile.view<24x16xf32, [16, 1]>,
                    %y: !tile.view<?x8xf32, [8, 1]>, %z: !tile.view<?x24xf32, [24, 1]>)
    items(#tile.items<rows, tile = 32, times = 1>) writes(2, 3)
    schedule(#tile.schedule<decided = layouts, threads = 64>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<32x8xf32, accumulator, #tile.mma<threads = 64, row_warps = 2>>
  %none = tile.splat %f0 : !tile.tile<32x24xf32, accumulator, #tile.mma<threads = 64, row_warps = 2>>
  %a = tile.load %x[%c0, %c0] sizes [32, 16] : !tile.view<?x16xf32, [16, 1]>
      -> !tile.tile<32x16xf32, operand, #tile.shared<threads = 64, stride = 24>>
  %b = tile.load %w[%c0, %c0] sizes [8, 16] : !tile.view<24x16xf32, [16, 1]>
      -> !tile.tile<8x16xf32, operand, #tile.shared<threads = 64, stride = 24>>
  %d = tile.dot %zero, %a, %b transpose_b
      : !tile.tile<32x8xf32, accumulator, #tile.mma<threads = 64, row_warps = 2>>,
        !tile.tile<32x16xf32, operand, #tile.shared<threads = 64, stride = 24>>,
        !tile.tile<8x16xf32, operand, #tile.shared<threads = 64, stride = 24>>
  %c = tile.load %w[%c0, %c0] sizes [24, 16] : !tile.view<24x16xf32, [16, 1]>
      -> !tile.tile<24x16xf32, operand, #tile.shared<threads = 64, stride = 40>>
  %e = tile.dot %none, %a, %c transpose_b
      : !tile.tile<32x24xf32, accumulator, #tile.mma<threads = 64, row_warps = 2>>,
        !tile.tile<32x16xf32, operand, #tile.shared<threads = 64, stride = 24>>,
        !tile.tile<24x16xf32, operand, #tile.shared<threads = 64, stride = 40>>
  %r = tile.reduce add %d over rows : !tile.tile<32x8xf32, accumulator, #tile.mma<threads = 64, row_warps = 2>>
      -> !tile.tile<8xf32, row, #tile.mma<threads = 64, row_warps = 2>>
  tile.store %r, %y[%c0, %c0] sizes [1, 8]
      : !tile.tile<8xf32, row, #tile.mma<threads = 64, row_warps = 2>>, !tile.view<?x8xf32, [8, 1]>
  tile.store %e, %z[%c0, %c0] sizes [32, 24]
      : !tile.tile<32x24xf32, accumulator, #tile.mma<threads = 64, row_warps = 2>>, !tile.view<?x24xf32, [24, 1]>
}
}
// -----

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// A ring of boxes is in use from the kernel's begin on. So its 3 x 16 x 128 bytes, at a
// multiple of 1024, may not lie on the 64 of a row that is read before it. Its mbarriers
// stay to the end, and fit between the two.
// CHECK-LABEL: tile.kernel @ring_of_boxes
// CHECK-SAME: schedule(#tile.schedule<decided = places, threads = 32, shared_bytes = 7168>)
// CHECK: tile.convert {{.*}} -> <16xf32, row, #tile.shared<threads = 32, offset = 0, stride = 1>>
// CHECK: tile.shift {{.*}} : <16xf32, row, #tile.shared<threads = 32, offset = 0, stride = 1>>
// CHECK: tile.ring arrivals 64 : <16x64xbf16, operand, #tile.shared<threads = 32, swizzled = true, offset = 1024, stride = 64, slots = 3>>
// CHECK: tile.await_box {{.*}} -> <16x64xbf16, operand, #tile.shared<threads = 32, swizzled = true, offset = 1024, stride = 64>>
tile.kernel @ring_of_boxes(%item, %x: !tile.view<?x16xf32, [16, 1]>, %w: !tile.view<16x64xbf16, [64, 1]>,
                           %y: !tile.view<?x16xf32, [16, 1]>, %z: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(2, 3) streamed(1) aligned(1)
    schedule(#tile.schedule<decided = layouts, threads = 32>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  %row = tile.load %x[%c0, %c0] sizes [1, 16] : !tile.view<?x16xf32, [16, 1]>
      -> !tile.tile<16xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 4>>
  %held = tile.convert %row : !tile.tile<16xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 4>>
      -> !tile.tile<16xf32, row, #tile.shared<threads = 32, stride = 1>>
  %shifted = tile.shift %held by 1 : !tile.tile<16xf32, row, #tile.shared<threads = 32, stride = 1>>
      -> !tile.tile<16xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 4>>
  tile.store %shifted, %y[%c0, %c0] sizes [1, 16]
      : !tile.tile<16xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 4>>, !tile.view<?x16xf32, [16, 1]>
  %ring = tile.ring : !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, swizzled = true, stride = 64, slots = 3>>
  tile.barrier
  tile.fetch_box %w[%c0, %c0] sizes [16, 64] into %ring[%c0] : !tile.view<16x64xbf16, [64, 1]>,
      !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, swizzled = true, stride = 64, slots = 3>>
  %b = tile.await_box %ring[%c0]
      : !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, swizzled = true, stride = 64, slots = 3>>
        -> !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, swizzled = true, stride = 64>>
  tile.barrier
  %d = tile.dot %zero, %b, %b transpose_a by(#tile.wgmma)
      : !tile.tile<64x64xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>,
        !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, swizzled = true, stride = 64>>,
        !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, swizzled = true, stride = 64>>
  tile.store %d, %z[%c0, %c0] sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>, !tile.view<?x64xf32, [64, 1]>
}
}
// -----

// 64 rows of 16 and 8 more f32 are 6144 bytes.
module attributes {tile.target = #tile.target<nvptx, block = <threads = 64, shared_bytes = 6143>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32,
    registers = 255, step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
// expected-error @+1 {{kernel 'large' needs 6144 bytes of shared memory, but a block of the target has 6143}}
tile.kernel @large(%item, %x: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes()
    schedule(#tile.schedule<decided = layouts, threads = 32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [64, 16] : !tile.view<?x16xf32, [16, 1]>
      -> !tile.tile<64x16xf32, operand, #tile.shared<threads = 32, stride = 24>>
}
}

// -----

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// expected-error @+1 {{'tile-place-shared' expects a kernel whose layouts are decided, but got 'too_early' with nothing decided; run 'tile-choose-threads' before}}
tile.kernel @too_early(%item) items(#tile.items<one, tile = 1, times = 1>) writes() {
}
}
