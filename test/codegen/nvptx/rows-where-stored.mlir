// RUN: effc-opt %s --nvptx-lower-kernels | FileCheck %s

// A thread holds 128 numbers of a tile of 64 x 64 over 32 threads. What comes of
// such a tile and another is loaded and computed a row at a time, where it is
// stored; of smaller tiles all is loaded first.

#mma = #tile.mma<threads = 32, row_warps = 1>
module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255,
    step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {

// Eight rows of a thread, each of 8 runs of two columns.
// CHECK-LABEL: llvm.func @large(
// CHECK-NOT: llvm.load
// CHECK: scf.if
// CHECK-COUNT-8: llvm.load {{.*}} -> vector<2xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-8: llvm.store
// CHECK-NOT: llvm.store
// CHECK: scf.if
// CHECK-COUNT-8: llvm.load
// CHECK-NOT: llvm.load
// CHECK-COUNT-8: llvm.store
tile.kernel @large(%item, %x: !tile.view<?x64xf32, [64, 1]>, %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(1) aligned(0, 1)
    schedule(#tile.schedule<decided = barriers, threads = 32, shared_bytes = 0>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %rows = tile.count rows
  %held = tile.splat %f0 : !tile.tile<64x64xf32, accumulator, #mma>
  %a = tile.load %x[%c0, %c0] rows(%rows) sizes [64, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64x64xf32, accumulator, #mma>
  %b = tile.map(%held, %a) : (!tile.tile<64x64xf32, accumulator, #mma>,
      !tile.tile<64x64xf32, accumulator, #mma>) -> !tile.tile<64x64xf32, accumulator, #mma> {
  ^bb0(%p: f32, %q: f32):
    %product = arith.mulf %p, %q : f32
    tile.yield %product : f32
  }
  tile.store %b, %y[%c0, %c0] rows(%rows) sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator, #mma>, !tile.view<?x64xf32, [64, 1]>
}

// CHECK-LABEL: llvm.func @small(
// CHECK-COUNT-32: llvm.load {{.*}} -> vector<2xf32>
// CHECK-NOT: llvm.load
// CHECK: scf.if
// CHECK-NOT: llvm.load
// CHECK: llvm.return
tile.kernel @small(%item, %x: !tile.view<?x64xf32, [64, 1]>, %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 32, times = 1>) writes(1) aligned(0, 1)
    schedule(#tile.schedule<decided = barriers, threads = 32, shared_bytes = 0>) {
  %c0 = arith.constant 0 : index
  %rows = tile.count rows
  %a = tile.load %x[%c0, %c0] rows(%rows) sizes [32, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<32x64xf32, accumulator, #mma>
  tile.store %a, %y[%c0, %c0] rows(%rows) sizes [32, 64]
      : !tile.tile<32x64xf32, accumulator, #mma>, !tile.view<?x64xf32, [64, 1]>
}

// Another store may write where the load reads: what is loaded is held.
// CHECK-LABEL: llvm.func @behind_a_store(
// CHECK-COUNT-64: llvm.load
// CHECK-NOT: llvm.load
// CHECK: llvm.store
// CHECK-NOT: llvm.load
// CHECK: llvm.return
tile.kernel @behind_a_store(%item, %x: !tile.view<?x64xf32, [64, 1]>, %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(0, 1) aligned(0, 1)
    schedule(#tile.schedule<decided = barriers, threads = 32, shared_bytes = 0>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %rows = tile.count rows
  %a = tile.load %x[%c0, %c0] rows(%rows) sizes [64, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64x64xf32, accumulator, #mma>
  %held = tile.splat %f0 : !tile.tile<64x64xf32, accumulator, #mma>
  tile.store %held, %x[%c0, %c0] rows(%rows) sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator, #mma>, !tile.view<?x64xf32, [64, 1]>
  tile.store %a, %y[%c0, %c0] rows(%rows) sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator, #mma>, !tile.view<?x64xf32, [64, 1]>
}
}
