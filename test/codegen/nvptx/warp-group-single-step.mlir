// RUN: effc-opt %s --effc-nvptx-kernels --nvptx-write-assembly > %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --input-file %t.ptx

// A contraction of one step is a pipeline without a ring: threads store the columns
// themselves, and a fence makes them seen by the unit beside them, before the barrier.
// CHECK-LABEL: .entry linear(
// CHECK: st.shared
// CHECK: fence.proxy.async.shared::cta
// CHECK: bar.sync
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
module attributes {tile.target = #tile.target<nvptx, units = [#tile.wgmma, #tile.mma_sync], block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_90a", features = "+ptx80", vector = 32, registers = 255,
    step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
tile.kernel @linear(%item, %x: !tile.view<?x64xf32, [64, 1]>, %w: !tile.view<64x64xbf16, [64, 1]>,
                    %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 64 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [64, 64]
        : !tile.view<64x64xbf16, [64, 1]> -> !tile.tile<64x64xf32, operand>
    tile.yield %a, %b : !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<64x64xf32, operand>, %b: !tile.tile<64x64xf32, operand>,
       %acc: !tile.tile<64x64xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b : !tile.tile<64x64xf32, accumulator>,
        !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
    tile.yield %s : !tile.tile<64x64xf32, accumulator>
  }
  tile.store %d, %y[%c0, %c0] sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator>, !tile.view<?x64xf32, [64, 1]>
}
}
