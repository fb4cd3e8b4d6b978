// RUN: effc-opt %s --host-lower-kernels --canonicalize --cse | FileCheck %s

// A kernel is a function of its operands' addresses, the call's counts, and the
// first and last item.

// Maps, the sum over rows and the store of one shape share one loop over the 5 rows
// of the state: each element is loaded and stored once, in place, and the sum stays
// in a register until it is stored. 12 columns are one vector of 8 and a rest of 4
// lanes, masked.
// CHECK-LABEL: llvm.func @one_loop(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) attributes {effc.stack_bytes = 0 : i64}
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<8xf32>) {
// CHECK-NEXT: arith.muli
// CHECK: %[[OLD:.*]] = llvm.load {{.*}} -> vector<8xf32>
// CHECK: %[[NEW:.*]] = arith.mulf %[[OLD]]
// CHECK-NOT: llvm.load
// CHECK: llvm.store %[[NEW]]
// CHECK: %[[NEXT:.*]] = arith.addf %{{.*}}, %[[NEW]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: scf.for {{.*}} -> (vector<8xf32>) {
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
tile.kernel @one_loop(%item, %s: !tile.view<?x5x12xf32, [64, 12, 1]>, %y: !tile.view<?x12xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0, 1) {
  %c0 = arith.constant 0 : index
  %old = tile.load %s[%item, %c0, %c0] sizes [1, 5, 12] : !tile.view<?x5x12xf32, [64, 12, 1]> -> !tile.tile<5x12xf32, accumulator>
  %half = arith.constant 0.5 : f32
  %new = tile.map(%old, %half) : (!tile.tile<5x12xf32, accumulator>, f32) -> !tile.tile<5x12xf32, accumulator> {
  ^bb0(%e: f32, %h: f32):
    %p = arith.mulf %e, %h : f32
    tile.yield %p : f32
  }
  tile.store %new, %s[%item, %c0, %c0] sizes [1, 5, 12] : !tile.tile<5x12xf32, accumulator>, !tile.view<?x5x12xf32, [64, 12, 1]>
  %sum = tile.reduce add %new over rows : !tile.tile<5x12xf32, accumulator> -> !tile.tile<12xf32, row>
  tile.store %sum, %y[%item, %c0] sizes [1, 12] : !tile.tile<12xf32, row>, !tile.view<?x12xf32, [16, 1]>
}

// What needs a sum over all rows is a second pass over the same run of columns,
// before the next run: the sum of 8 columns goes from loop to loop as a vector, and
// nothing is on the stack.
// CHECK-LABEL: llvm.func @two_passes(
// CHECK-SAME: attributes {effc.stack_bytes = 0 : i64}
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>) {
// CHECK: }
// CHECK: %[[LAST:.*]] = arith.addf %[[SUMS]]#0
// CHECK: %[[SUM:.*]] = arith.addf %[[LAST]], %[[SUMS]]#1
// CHECK: %[[LESS:.*]] = arith.negf %[[SUM]]
// CHECK: scf.for
// CHECK: %[[OLD:.*]] = llvm.load {{.*}} -> vector<8xf32>
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[LESS]]
// CHECK: llvm.store %[[NEW]]
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>) {
tile.kernel @two_passes(%item, %s: !tile.view<?x5x12xf32, [64, 12, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %old = tile.load %s[%item, %c0, %c0] sizes [1, 5, 12] : !tile.view<?x5x12xf32, [64, 12, 1]> -> !tile.tile<5x12xf32, accumulator>
  %sum = tile.reduce add %old over rows : !tile.tile<5x12xf32, accumulator> -> !tile.tile<12xf32, row>
  %less = tile.map(%sum) : (!tile.tile<12xf32, row>) -> !tile.tile<12xf32, row> {
  ^bb0(%e: f32):
    %n = arith.negf %e : f32
    tile.yield %n : f32
  }
  %new = tile.map(%old, %less) : (!tile.tile<5x12xf32, accumulator>, !tile.tile<12xf32, row>) -> !tile.tile<5x12xf32, accumulator> {
  ^bb0(%e: f32, %l: f32):
    %p = arith.addf %e, %l : f32
    tile.yield %p : f32
  }
  tile.store %new, %s[%item, %c0, %c0] sizes [1, 5, 12] : !tile.tile<5x12xf32, accumulator>, !tile.view<?x5x12xf32, [64, 12, 1]>
}

// A loaded tile is a window, read where it lies: nothing is on the stack. 4 bf16 of
// a row are loaded under a mask and widened by a shift.
// CHECK-LABEL: llvm.func @window(
// CHECK-SAME: attributes {effc.stack_bytes = 0 : i64}
// CHECK-NOT: llvm.alloca
// CHECK: %[[BITS:.*]] = llvm.intr.masked.load {{.*}} -> vector<8xi16>
// CHECK: %[[WIDE:.*]] = arith.extui %[[BITS]] : vector<8xi16> to vector<8xi32>
// CHECK: arith.shli %[[WIDE]]
// CHECK: llvm.intr.masked.store {{.*}} : vector<8xf32>
tile.kernel @window(%item, %x: !tile.view<?x4xbf16, [32, 1]>, %y: !tile.view<?x4xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 4] : !tile.view<?x4xbf16, [32, 1]> -> !tile.tile<4xf32, row>
  %b = tile.map(%a) : (!tile.tile<4xf32, row>) -> !tile.tile<4xf32, row> {
  ^bb0(%e: f32):
    tile.yield %e : f32
  }
  tile.store %b, %y[%item, %c0] sizes [1, 4] : !tile.tile<4xf32, row>, !tile.view<?x4xf32, [16, 1]>
}

// Of 3 rows only %n lie inside: a row past them is read as the last one inside, and
// not written.
// CHECK-LABEL: llvm.func @rows_past_the_end(
// CHECK: %[[COUNT:.*]] = llvm.load %{{.*}} -> i64
// CHECK: %[[N:.*]] = arith.index_cast %[[COUNT]] : i64 to index
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c3
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %c1
// CHECK: arith.minsi %[[ROW]], %[[LAST]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[ROW]], %[[N]]
// CHECK: scf.if %[[INSIDE]]
tile.kernel @rows_past_the_end(%item, %x: !tile.view<?x8xf32, [16, 1]>, %y: !tile.view<?x8xf32, [16, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %n = tile.count rows
  %a = tile.load %x[%c0, %c0] rows(%n) sizes [3, 8] : !tile.view<?x8xf32, [16, 1]> -> !tile.tile<3x8xf32, operand>
  %b = tile.map(%a) : (!tile.tile<3x8xf32, operand>) -> !tile.tile<3x8xf32, operand> {
  ^bb0(%e: f32):
    %d = arith.negf %e : f32
    tile.yield %d : f32
  }
  tile.store %b, %y[%c0, %c0] rows(%n) sizes [3, 8] : !tile.tile<3x8xf32, operand>, !tile.view<?x8xf32, [16, 1]>
}

// A tile that is used after its memory has been written is copied before: one
// buffer of 8 f32, from which the second store reads.
// CHECK-LABEL: llvm.func @window_kept(
// CHECK-SAME: attributes {effc.stack_bytes = 64 : i64}
// CHECK: %[[KEPT:.*]] = llvm.alloca
// CHECK: %[[OLD:.*]] = llvm.load %{{.*}} -> vector<8xf32>
// CHECK: llvm.store %[[OLD]], %[[KEPT]]
// CHECK: llvm.load %[[KEPT]]
tile.kernel @window_kept(%item, %x: !tile.view<?x8xf32, [16, 1]>, %y: !tile.view<?x8xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0, 1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[%item, %c0] sizes [1, 8] : !tile.view<?x8xf32, [16, 1]> -> !tile.tile<8xf32, row>
  %none = tile.splat %zero : !tile.tile<8xf32, row>
  tile.store %none, %x[%item, %c0] sizes [1, 8] : !tile.tile<8xf32, row>, !tile.view<?x8xf32, [16, 1]>
  scf.for %i = %c0 to %c1 step %c1 {
    tile.store %a, %y[%i, %c0] sizes [1, 8] : !tile.tile<8xf32, row>, !tile.view<?x8xf32, [16, 1]>
  }
}

// A row moved is read where it lies, one element earlier: nothing is on the stack, and
// the column that it lacks is masked.
// CHECK-LABEL: llvm.func @shifted(
// CHECK-SAME: attributes {effc.stack_bytes = 0 : i64}
// CHECK: %[[MASK:.*]] = arith.constant dense<[false, true, true, true, true, true, true, true]>
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[-1] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK: llvm.intr.masked.load %[[AT]], %[[MASK]]
// CHECK: llvm.store
tile.kernel @shifted(%item, %x: !tile.view<?x8xf32, [16, 1]>, %y: !tile.view<?x8xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 8] : !tile.view<?x8xf32, [16, 1]> -> !tile.tile<8xf32, row>
  %left = tile.shift %a by -1 : !tile.tile<8xf32, row>
  %b = tile.map(%left) : (!tile.tile<8xf32, row>) -> !tile.tile<8xf32, row> {
  ^bb0(%e: f32):
    %d = arith.negf %e : f32
    tile.yield %d : f32
  }
  tile.store %b, %y[%item, %c0] sizes [1, 8] : !tile.tile<8xf32, row>, !tile.view<?x8xf32, [16, 1]>
}

// One that the kernel writes is copied first.
// CHECK-LABEL: llvm.func @shifted_in_place(
// CHECK-SAME: attributes {effc.stack_bytes = 64 : i64}
// CHECK: %[[COPY:.*]] = llvm.alloca
// CHECK: llvm.store %{{.*}}, %[[COPY]]
// CHECK: %[[BEFORE:.*]] = llvm.getelementptr %[[COPY]][-1]
// CHECK: llvm.intr.masked.load %[[BEFORE]]
tile.kernel @shifted_in_place(%item, %x: !tile.view<?x8xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 8] : !tile.view<?x8xf32, [16, 1]> -> !tile.tile<8xf32, row>
  %left = tile.shift %a by -1 : !tile.tile<8xf32, row>
  tile.store %left, %x[%item, %c0] sizes [1, 8] : !tile.tile<8xf32, row>, !tile.view<?x8xf32, [16, 1]>
}
