// RUN: effc-opt %s --effc-nvptx-kernels --nvptx-write-assembly > %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_90a -Werror %t.ptx -o %t.cubin %}

module attributes {tile.target = #tile.target<nvptx, units = [#tile.wgmma, #tile.mma_sync], block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_90a", features = "+ptx80", vector = 32, registers = 255,
    step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
// 64 rows of f32 by 64 columns of bf16, in steps of 64. One thread starts an mbarrier
// for each of three slots and has the columns copied, 8192 bytes a turn; then four
// times three products of m64n64k16, each behind a fence of the registers that it
// reads, which nothing writes in between, and one group. What is fetched ahead is asked
// for while it runs, and only then it is waited for.
// CHECK-LABEL: .entry linear(
// CHECK: .param .align 128 .b8 linear_param_6[128]
// CHECK-COUNT-3: mbarrier.init.shared
// CHECK: fence.proxy.async.shared::cta
// CHECK: bar.sync
// CHECK: mov.b32 [[BYTES:%r[0-9]+]], 8192
// CHECK-NEXT: mbarrier.arrive.expect_tx{{.*}}, [[BYTES]]
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// LLVM lays the loop's end before its head.
// CHECK: cp.async.commit_group
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: cp.async.wait_group
// CHECK: mbarrier.try_wait.parity
// CHECK: bar.sync
// CHECK: wgmma.fence.sync.aligned
// CHECK-NOT: mov.b32
// CHECK-COUNT-3: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK: wgmma.fence.sync.aligned
// CHECK-NOT: mov.b32
// CHECK-COUNT-3: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK: wgmma.fence.sync.aligned
// CHECK-NOT: mov.b32
// CHECK-COUNT-3: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK: wgmma.fence.sync.aligned
// CHECK-NOT: mov.b32
// CHECK-COUNT-3: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.commit_group.sync.aligned
// CHECK-NOT: wgmma.wait_group
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK-NOT: mma.sync
tile.kernel @linear(%item, %x: !tile.view<?x192xf32, [192, 1]>, %w: !tile.view<64x192xbf16, [192, 1]>,
                    %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x192xf32, [192, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [64, 64]
        : !tile.view<64x192xbf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
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

// Rows that are bf16 in memory come by ldmatrix: in each of three steps, which LLVM writes
// one behind the other, one product for each 16 of 64 in depth. Only the results are
// rounded, where they are written.
// CHECK-LABEL: .entry narrow_rows(
// CHECK-NOT: cvt.rn
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: cvt.rn
// CHECK-COUNT-12: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK-NOT: wgmma.mma_async
// CHECK: cvt.rn.bf16x2.f32
// CHECK: st.global.b32
tile.kernel @narrow_rows(%item, %x: !tile.view<?x192xbf16, [192, 1]>, %w: !tile.view<64x192xbf16, [192, 1]>,
                         %y: !tile.view<?x64xbf16, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x192xbf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [64, 64]
        : !tile.view<64x192xbf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    tile.yield %a, %b : !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<64x64xf32, operand>, %b: !tile.tile<64x64xf32, operand>,
       %acc: !tile.tile<64x64xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b rounded to bf16 : !tile.tile<64x64xf32, accumulator>,
        !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
    tile.yield %s : !tile.tile<64x64xf32, accumulator>
  }
  tile.store %d, %y[%c0, %c0] sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator>, !tile.view<?x64xbf16, [64, 1]>
}

// Columns that are loaded: 64 in depth, which are four products; side by side in two panels
// of 64, 32 in depth, which are two, with rows from registers, where the product before has
// left them. The panels are 4096 bytes apart, 256 times 16, groups of eight rows 1024.
// CHECK-LABEL: .entry weights(
// CHECK-NOT: mma.sync
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {{.*}}, adds, 1, 1, 0;
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: ex2
// CHECK: or.b64 {{.*}}, 4611686293322072064
// CHECK-NOT: ldmatrix
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, adds, 1, 1, 1;
// CHECK-NOT: wgmma.mma_async
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
