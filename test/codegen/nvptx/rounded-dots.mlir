// RUN: effc-opt %s --effc-nvptx-kernels --nvptx-write-assembly > %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_90a -Werror %t.ptx -o %t.cubin %}
// RUN: sed 's/#tile.wgmma, //' %s | effc-opt --effc-nvptx-kernels --sim-call-simulator | FileCheck %s --check-prefix=SIM

module attributes {tile.target = #tile.target<nvptx, units = [#tile.wgmma, #tile.mma_sync], block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_90a", features = "+ptx80", vector = 32, registers = 255,
    step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
// Rounded to f16, as to bf16: f16 in shared memory, one product for 16 in depth.
// CHECK-LABEL: .entry f16(
// CHECK: cvt.rn.f16x2.f32
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK-NOT: mma.sync
// SIM-LABEL: llvm.func @f16(
// SIM: llvm.fptrunc %{{.*}} : vector<{{[24]}}xf32> to vector<{{[24]}}xf16>
tile.kernel @f16(%item, %x: !tile.view<?x64xf32, [64, 1]>,
                 %w: !tile.view<64x8xf32, [8, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<16x64xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [64, 8]
      : !tile.view<64x8xf32, [8, 1]> -> !tile.tile<64x8xf32, operand>
  %d = tile.dot %zero, %a, %b rounded to f16 : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x64xf32, operand>, !tile.tile<64x8xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}

// Groups of warps multiply f16 by weights of f16 that boxes bring.
// CHECK-LABEL: .entry f16_group(
// CHECK: cp.async.bulk.tensor.2d
// CHECK-COUNT-12: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK-NOT: wgmma.mma_async
tile.kernel @f16_group(%item, %x: !tile.view<?x192xf16, [192, 1]>, %w: !tile.view<64x192xf16, [192, 1]>,
                       %y: !tile.view<?x64xf16, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x192xf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [64, 64]
        : !tile.view<64x192xf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    tile.yield %a, %b : !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<64x64xf32, operand>, %b: !tile.tile<64x64xf32, operand>,
       %acc: !tile.tile<64x64xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b rounded to f16 : !tile.tile<64x64xf32, accumulator>,
        !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
    tile.yield %s : !tile.tile<64x64xf32, accumulator>
  }
  tile.store %d, %y[%c0, %c0] sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator>, !tile.view<?x64xf16, [64, 1]>
}

// A tf32 takes the memory of an f32 and is rounded when it is read: two products of 8
// for 16 in depth, whose operands are neighbours in depth in one load.
// CHECK-LABEL: .entry tf32(
// CHECK-NOT: cvt.rn
// CHECK: .pragma "nounroll"
// CHECK: ld.shared.v2.b32
// CHECK: cvt.rna.tf32.f32
// CHECK-COUNT-2: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT: mma.sync
// SIM-LABEL: llvm.func @tf32(
// SIM: %[[SUM:.*]] = llvm.add %{{.*}}, %{{.*}} : i32
// SIM: %[[ROUNDED:.*]] = llvm.and %[[SUM]], %{{.*}} : i32
// SIM: llvm.fcmp "uno"
// SIM: llvm.select %{{.*}}, %{{.*}}, %[[ROUNDED]] : i1, i32
tile.kernel @tf32(%item, %x: !tile.view<?x64xf32, [64, 1]>,
                  %w: !tile.view<8x64xf32, [64, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<16x64xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [8, 64]
      : !tile.view<8x64xf32, [64, 1]> -> !tile.tile<8x64xf32, operand>
  %d = tile.dot %zero, %a, %b transpose_b rounded to tf32 : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x64xf32, operand>, !tile.tile<8x64xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}

// What is stored in 16 bits is a tf32 as it is: only A is rounded, in 16 rows of 16
// four pairs of each lane.
// CHECK-LABEL: .entry tf32_narrow(
// CHECK: ldmatrix.sync.aligned.m8n8.x2.shared.b16
// CHECK-COUNT-8: cvt.rna.tf32.f32
// CHECK-NOT: cvt.rna
// CHECK-COUNT-2: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-NOT: mma.sync
tile.kernel @tf32_narrow(%item, %x: !tile.view<?x16xf32, [16, 1]>,
                         %w: !tile.view<8x16xbf16, [16, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 16]
      : !tile.view<?x16xf32, [16, 1]> -> !tile.tile<16x16xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [8, 16]
      : !tile.view<8x16xbf16, [16, 1]> -> !tile.tile<8x16xf32, operand>
  %d = tile.dot %zero, %a, %b transpose_b rounded to tf32 : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x16xf32, operand>, !tile.tile<8x16xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}
}
