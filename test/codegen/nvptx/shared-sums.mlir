// RUN: effc-opt %s --effc-nvptx-kernels | FileCheck %s

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_90a", features = "+ptx80", vector = 32, registers = 255,
    step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// Sums of columns, whose 512 rows lie in all threads, two warps or four: a thread adds up
// its rows, lanes meet by exchanges, then the warps through shared memory.

// Two warps. Of four sums each of two neighbours takes two, then one: 2 + 1 exchanges. The other
// three distances have one each, where four sums of their own would have 4 * 5. A lane
// then leaves the one sum that it has, and every thread reads four of each warp.
// CHECK-LABEL: llvm.func @four(
// CHECK-COUNT-6: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK-NOT: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK-COUNT-8: llvm.load {{.*}}!llvm.ptr<3> -> f32
// CHECK-NOT: llvm.load {{.*}}!llvm.ptr<3>
// CHECK: llvm.return
tile.kernel @four(%item, %x: !tile.view<?x4xf32, [4, 1]>, %y: !tile.view<?x4xf32, [4, 1]>)
    items(#tile.items<rows, tile = 512, times = 1>) writes(1) aligned(0, 1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [512, 4]
      : !tile.view<?x4xf32, [4, 1]> -> !tile.tile<512x4xf32, accumulator>
  %s = tile.reduce add %a over rows : !tile.tile<512x4xf32, accumulator> -> !tile.tile<4xf32, row>
  tile.store %s, %y[%item, %c0] sizes [1, 4]
      : !tile.tile<4xf32, row>, !tile.view<?x4xf32, [4, 1]>
}

// Four warps. Of six sums each of two neighbours takes three, which four distances more
// exchange whole: 3 + 3 * 4. A lane leaves three, and six of each warp are read.
// CHECK-LABEL: llvm.func @six(
// CHECK-COUNT-15: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-3: llvm.store {{.*}}!llvm.ptr<3>
// CHECK-NOT: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK-COUNT-24: llvm.load {{.*}}!llvm.ptr<3> -> f32
// CHECK-NOT: llvm.load {{.*}}!llvm.ptr<3>
// CHECK: llvm.return
tile.kernel @six(%item, %x: !tile.view<?x6xf32, [6, 1]>, %y: !tile.view<?x6xf32, [6, 1]>)
    items(#tile.items<rows, tile = 512, times = 1>) writes(1) aligned(0, 1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [512, 6]
      : !tile.view<?x6xf32, [6, 1]> -> !tile.tile<512x6xf32, accumulator>
  %s = tile.reduce add %a over rows : !tile.tile<512x6xf32, accumulator> -> !tile.tile<6xf32, row>
  tile.store %s, %y[%item, %c0] sizes [1, 6]
      : !tile.tile<6xf32, row>, !tile.view<?x6xf32, [6, 1]>
}

// Two warps. Three sums cannot be shared by two: 3 * 5 exchanges, and a lane leaves three.
// CHECK-LABEL: llvm.func @three(
// CHECK-COUNT-15: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-3: llvm.store {{.*}}!llvm.ptr<3>
// CHECK-NOT: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK-COUNT-6: llvm.load {{.*}}!llvm.ptr<3> -> f32
// CHECK-NOT: llvm.load {{.*}}!llvm.ptr<3>
// CHECK: llvm.return
tile.kernel @three(%item, %x: !tile.view<?x3xf32, [4, 1]>, %y: !tile.view<?x3xf32, [4, 1]>)
    items(#tile.items<rows, tile = 512, times = 1>) writes(1) aligned(0, 1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [512, 3]
      : !tile.view<?x3xf32, [4, 1]> -> !tile.tile<512x3xf32, accumulator>
  %s = tile.reduce add %a over rows : !tile.tile<512x3xf32, accumulator> -> !tile.tile<3xf32, row>
  tile.store %s, %y[%item, %c0] sizes [1, 3]
      : !tile.tile<3xf32, row>, !tile.view<?x3xf32, [4, 1]>
}
}
