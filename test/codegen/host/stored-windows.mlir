// RUN: effc-opt %s --host-lower-kernels --canonicalize --cse | FileCheck %s

// A loaded tile is a window: what is read through it after a store to the same
// view would be what was stored. 4 rows of 12 columns take 16 f32 each on the stack.

// Rows 0 to 3 move to 1 to 4: all are read before the first is written.
// CHECK-LABEL: llvm.func @move_down(
// CHECK-SAME: attributes {effc.stack_bytes = 256 : i64}
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: scf.for
// CHECK-NOT: arith.mulf
// CHECK: llvm.store
tile.kernel @move_down(%item, %s: !tile.view<8x12xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %old = tile.load %s[%c0, %c0] sizes [4, 12] : !tile.view<8x12xf32, [16, 1]> -> !tile.tile<4x12xf32, accumulator>
  %f = arith.constant 2.0 : f32
  %new = tile.map(%old, %f) : (!tile.tile<4x12xf32, accumulator>, f32) -> !tile.tile<4x12xf32, accumulator> {
  ^bb0(%e: f32, %h: f32):
    %p = arith.mulf %e, %h : f32
    tile.yield %p : f32
  }
  tile.store %new, %s[%c1, %c0] sizes [4, 12] : !tile.tile<4x12xf32, accumulator>, !tile.view<8x12xf32, [16, 1]>
}

// The same without a map between: the tile itself is copied.
// CHECK-LABEL: llvm.func @move_as_it_is(
// CHECK-SAME: attributes {effc.stack_bytes = 256 : i64}
tile.kernel @move_as_it_is(%item, %s: !tile.view<8x12xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %old = tile.load %s[%c0, %c0] sizes [4, 12] : !tile.view<8x12xf32, [16, 1]> -> !tile.tile<4x12xf32, accumulator>
  tile.store %old, %s[%c1, %c0] sizes [4, 12] : !tile.tile<4x12xf32, accumulator>, !tile.view<8x12xf32, [16, 1]>
}

// Rows that are looked up lie in any order.
// CHECK-LABEL: llvm.func @gathered(
// CHECK-SAME: attributes {effc.stack_bytes = 256 : i64}
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: scf.for
// CHECK-NOT: arith.mulf
// CHECK: llvm.store
tile.kernel @gathered(%item, %s: !tile.view<4x12xf32, [16, 1]>, %n: !tile.view<?x4xi32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %g = tile.gather_rows %s[%c0] by %n[%item, %c0] : !tile.view<4x12xf32, [16, 1]>, !tile.view<?x4xi32, [16, 1]> -> !tile.tile<4x12xf32, operand>
  %f = arith.constant 2.0 : f32
  %new = tile.map(%g, %f) : (!tile.tile<4x12xf32, operand>, f32) -> !tile.tile<4x12xf32, accumulator> {
  ^bb0(%e: f32, %h: f32):
    %p = arith.mulf %e, %h : f32
    tile.yield %p : f32
  }
  tile.store %new, %s[%c0, %c0] sizes [4, 12] : !tile.tile<4x12xf32, accumulator>, !tile.view<4x12xf32, [16, 1]>
}

// A store in a loop, and a load before it: the row is copied before the loop.
// CHECK-LABEL: llvm.func @before_a_loop(
// CHECK-SAME: attributes {effc.stack_bytes = 64 : i64}
// CHECK: %[[OLD:.*]] = llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.store %[[OLD]], %[[KEPT:[^ ]*]]
// CHECK: scf.for
// CHECK: %[[AGAIN:.*]] = llvm.load %[[KEPT]]
// CHECK: arith.mulf %[[AGAIN]]
tile.kernel @before_a_loop(%item, %s: !tile.view<?x12xf32, [16, 1]>, %y: !tile.view<?x12xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0, 1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %f = arith.constant 2.0 : f32
  %old = tile.load %s[%item, %c0] sizes [1, 12] : !tile.view<?x12xf32, [16, 1]> -> !tile.tile<12xf32, row>
  scf.for %i = %c0 to %c3 step %c1 {
    %new = tile.map(%old, %f) : (!tile.tile<12xf32, row>, f32) -> !tile.tile<12xf32, row> {
    ^bb0(%e: f32, %h: f32):
      %p = arith.mulf %e, %h : f32
      tile.yield %p : f32
    }
    tile.store %new, %s[%item, %c0] sizes [1, 12] : !tile.tile<12xf32, row>, !tile.view<?x12xf32, [16, 1]>
  }
  tile.store %old, %y[%item, %c0] sizes [1, 12] : !tile.tile<12xf32, row>, !tile.view<?x12xf32, [16, 1]>
}

// A tile that a loop carries is written over run by run: what reads it some
// columns further on reads a copy.
// CHECK-LABEL: llvm.func @carried_shift(
// CHECK-SAME: attributes {effc.stack_bytes = 128 : i64}
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[OLD:.*]] = llvm.load %[[CARRIED:[^ ]*]] {{.*}} -> vector<8xf32>
// CHECK: llvm.store %[[OLD]], %[[COPY:[^ ]*]]
// CHECK: llvm.getelementptr %[[COPY]][-1]
// CHECK: arith.addf
// CHECK-NEXT: llvm.store %{{.*}}, %[[CARRIED]]
tile.kernel @carried_shift(%item, %x: !tile.view<?x12xf32, [16, 1]>, %y: !tile.view<?x12xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %start = tile.load %x[%item, %c0] sizes [1, 12] : !tile.view<?x12xf32, [16, 1]> -> !tile.tile<12xf32, row>
  %end = scf.for %i = %c0 to %c3 step %c1 iter_args(%old = %start) -> (!tile.tile<12xf32, row>) {
    %left = tile.shift %old by -1 : !tile.tile<12xf32, row>
    %new = tile.map(%old, %left) : (!tile.tile<12xf32, row>, !tile.tile<12xf32, row>) -> !tile.tile<12xf32, row> {
    ^bb0(%e: f32, %l: f32):
      %p = arith.addf %e, %l : f32
      tile.yield %p : f32
    }
    scf.yield %new : !tile.tile<12xf32, row>
  }
  tile.store %end, %y[%item, %c0] sizes [1, 12] : !tile.tile<12xf32, row>, !tile.view<?x12xf32, [16, 1]>
}
