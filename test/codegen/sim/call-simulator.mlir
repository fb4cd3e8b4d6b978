// RUN: effc-opt %s --effc-nvptx-kernels --sim-call-simulator | FileCheck %s

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// A sum of 64 elements by one warp: what the thread is and the lanes' exchange are
// calls of the simulator, and each access of memory has one before it.
// CHECK-DAG: llvm.mlir.global internal constant @effc_site_{{[0-9]+}}({{.*}}tile.load
// CHECK-DAG: llvm.mlir.global internal constant @effc_site_{{[0-9]+}}({{.*}}tile.reduce
// CHECK-LABEL: llvm.func @sum(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr)
// CHECK-NOT: nvvm.
// Threads and block: entry 0 of the table.
// CHECK: llvm.call %{{.*}}(%arg1, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32) -> i32
// A check, then the load.
// CHECK: llvm.call %{{.*}}(%arg1, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32, i32, i32, !llvm.ptr) -> ()
// CHECK: llvm.load
// A shuffle.
// CHECK: llvm.call %{{.*}}(%arg1, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32, i32, i32, i32, i32, !llvm.ptr) -> i32
// CHECK: llvm.store
// CHECK-NOT: nvvm.
tile.kernel @sum(%item, %x: !tile.view<?x64xf32, [64, 1]>, %y: !tile.view<?x1xf32, [1, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64xf32, row>
  %s = tile.reduce add %a over columns : !tile.tile<64xf32, row> -> f32
  %r = tile.splat %s : !tile.tile<1xf32, row>
  tile.store %r, %y[%item, %c0] sizes [1, 1]
      : !tile.tile<1xf32, row>, !tile.view<?x1xf32, [1, 1]>
}

// Three products of the parts of A, which is in shared memory, by B: one call tells
// from where both have come, for all three.
// CHECK-LABEL: llvm.func @product(
// CHECK-NOT: nvvm.
// ldmatrix, with room for the places of two elements of two matrices.
// CHECK: llvm.call %{{.*}}(%arg1, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[PLACES:[^,]*]], %{{[^,]*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[PLACES]][0]
// CHECK: llvm.load %[[FIRST]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(12 : i32)
// CHECK: llvm.call %{{.*}}(%arg1, %{{.*}}, %[[COUNT]]) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32) -> ()
// CHECK-NOT: (!llvm.ptr, !llvm.ptr, i32) -> ()
// CHECK-COUNT-3: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
// CHECK-NOT: (!llvm.ptr, !llvm.ptr, i32) -> ()
tile.kernel @product(%item, %x: !tile.view<?x16xf32, [16, 1]>,
                     %w: !tile.view<8x16xbf16, [16, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 16]
      : !tile.view<?x16xf32, [16, 1]> -> !tile.tile<16x16xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [8, 16]
      : !tile.view<8x16xbf16, [16, 1]> -> !tile.tile<8x16xf32, operand>
  %d = tile.dot %zero, %a, %b transpose_b : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x16xf32, operand>, !tile.tile<8x16xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}
}
