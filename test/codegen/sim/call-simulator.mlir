// RUN: effc-opt %s --effc-nvptx-kernels --sim-call-simulator | FileCheck %s

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
