// DEFINE: %{schedule} = --tile-choose-threads --tile-assign-layouts --tile-fetch-ahead \
// DEFINE:   --tile-place-shared --tile-insert-barriers
// RUN: sed 's/#tile.wgmma, //' %s | effc-opt %{schedule} | FileCheck %s
// RUN: effc-opt %s %{schedule} | FileCheck %s --check-prefix=GROUPS

// Of rounded products all warps lie along the rows where sums of one, made weights, are
// the rows of the next: these stay where they are. Threads have twice the sums for it.
// CHECK-LABEL: tile.kernel @weights
// CHECK-SAME: schedule(#tile.schedule<threads = 128, shared_bytes = 22528>)
// CHECK: %[[Q:.*]] = tile.load %arg1{{.*}} -> <64x64xbf16, operand, #tile.shared<threads = 128, offset = 0, stride = 72>>
// CHECK: %[[S:.*]] = tile.dot %{{.*}}, %[[Q]], %{{.*}} transpose_b rounded to bf16 {{.*}}<64x32xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
// CHECK: %[[W:.*]] = tile.map(%[[S]])
// CHECK-NOT: tile.convert
// CHECK: tile.dot %{{.*}}, %[[W]], %{{.*}} rounded to bf16 : <64x128xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>, <64x32xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>

module attributes {tile.target = #tile.target<nvptx, units = [#tile.wgmma, #tile.mma_sync], block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255,
    step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
// Groups of warps read what is loaded or computed, as columns in depth and as columns side
// by side, in panels of 64, once it is rounded.
// GROUPS-LABEL: tile.kernel @weights
// GROUPS: tile.load %arg2{{.*}} -> <32x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = {{[0-9]+}}, stride = 64>>
// GROUPS: tile.load %arg3{{.*}} -> <32x128xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = {{[0-9]+}}, stride = 64>>
// GROUPS: tile.convert {{.*}} -> <32x128xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = {{[0-9]+}}, stride = 64>>
tile.kernel @weights(%item, %q: !tile.view<?x64xf32, [64, 1]>, %k: !tile.view<?x64xf32, [64, 1]>,
                     %v: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x128xf32, [128, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(3) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %no_scores = tile.splat %f0 : !tile.tile<64x32xf32, accumulator>
  %no_sums = tile.splat %f0 : !tile.tile<64x128xf32, accumulator>
  %a = tile.load %q[%c0, %c0] sizes [64, 64] : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64x64xf32, operand>
  %b = tile.load %k[%c0, %c0] sizes [32, 64] : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<32x64xf32, operand>
  %c = tile.load %v[%c0, %c0] sizes [32, 128] : !tile.view<?x128xf32, [128, 1]> -> !tile.tile<32x128xf32, operand>
  %s = tile.dot %no_scores, %a, %b transpose_b rounded to bf16 : !tile.tile<64x32xf32, accumulator>,
      !tile.tile<64x64xf32, operand>, !tile.tile<32x64xf32, operand>
  %w = tile.map(%s) : (!tile.tile<64x32xf32, accumulator>) -> !tile.tile<64x32xf32, accumulator> {
  ^bb0(%e: f32):
    %p = math.exp %e : f32
    tile.yield %p : f32
  }
  %o = tile.dot %no_sums, %w, %c rounded to bf16 : !tile.tile<64x128xf32, accumulator>,
      !tile.tile<64x32xf32, accumulator>, !tile.tile<32x128xf32, operand>
  %twice = tile.load %v[%c0, %c0] sizes [32, 128] : !tile.view<?x128xf32, [128, 1]> -> !tile.tile<32x128xf32, operand>
  %d = tile.map(%twice) : (!tile.tile<32x128xf32, operand>) -> !tile.tile<32x128xf32, operand> {
  ^bb0(%e: f32):
    %p = arith.addf %e, %e : f32
    tile.yield %p : f32
  }
  %z = tile.dot %o, %w, %d rounded to bf16 : !tile.tile<64x128xf32, accumulator>,
      !tile.tile<64x32xf32, accumulator>, !tile.tile<32x128xf32, operand>
  tile.store %z, %y[%c0, %c0] sizes [64, 128]
      : !tile.tile<64x128xf32, accumulator>, !tile.view<?x128xf32, [128, 1]>
}
}
