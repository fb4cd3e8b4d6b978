// RUN: effc-opt %s --host-lower-kernels --canonicalize --cse | FileCheck %s

// A state of 2 x 8 f32 that a loop carries lies in one buffer of 64 bytes: the map
// that replaces it writes over it, and nothing is copied from round to round.
// CHECK-LABEL: llvm.func @carried_in_place(
// CHECK-SAME: attributes {effc.stack_bytes = 64 : i64}
// CHECK: %[[STATE:.*]] = llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: %[[COUNT:.*]] = llvm.load %{{.*}} -> i64
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[COUNT]]
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK: scf.for %{{.*}} = %c0 to %[[LENGTH]] step %c1 {
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c2
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[STATE]]
// CHECK-NEXT: %[[OLD:.*]] = llvm.load %[[AT]]
// CHECK: %[[NEW:.*]] = arith.mulf %[[OLD]]
// CHECK: llvm.store %[[NEW]], %[[AT]]
// CHECK-NOT: llvm.store
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: llvm.load
// CHECK: llvm.store
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tile.kernel @carried_in_place(%item, %x: !tile.view<?x2x8xf32, [16, 8, 1]>)
    items(#tile.items<segments, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %n = tile.count rows
  %init = tile.splat %one : !tile.tile<2x8xf32, accumulator>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (!tile.tile<2x8xf32, accumulator>) {
    %next = tile.map(%s, %half) : (!tile.tile<2x8xf32, accumulator>, f32) -> !tile.tile<2x8xf32, accumulator> {
    ^bb0(%e: f32, %h: f32):
      %p = arith.mulf %e, %h : f32
      tile.yield %p : f32
    }
    scf.yield %next : !tile.tile<2x8xf32, accumulator>
  }
  tile.store %last, %x[%item, %c0, %c0] sizes [1, 2, 8] : !tile.tile<2x8xf32, accumulator>, !tile.view<?x2x8xf32, [16, 8, 1]>
}

// Two maps on the way to the next state write over it both, and a loop that follows
// goes on with the buffer of the one before.
// CHECK-LABEL: llvm.func @carried_by_two_maps_and_two_loops(
// CHECK-SAME: attributes {effc.stack_bytes = 64 : i64}
// CHECK: llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: llvm.return
tile.kernel @carried_by_two_maps_and_two_loops(%item, %x: !tile.view<?x2x8xf32, [16, 8, 1]>)
    items(#tile.items<segments, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %n = tile.count rows
  %init = tile.splat %one : !tile.tile<2x8xf32, accumulator>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (!tile.tile<2x8xf32, accumulator>) {
    %a = tile.map(%s, %half) : (!tile.tile<2x8xf32, accumulator>, f32) -> !tile.tile<2x8xf32, accumulator> {
    ^bb0(%e: f32, %h: f32):
      %p = arith.mulf %e, %h : f32
      tile.yield %p : f32
    }
    %b = tile.map(%a, %half) : (!tile.tile<2x8xf32, accumulator>, f32) -> !tile.tile<2x8xf32, accumulator> {
    ^bb0(%e: f32, %h: f32):
      %p = arith.mulf %e, %h : f32
      tile.yield %p : f32
    }
    scf.yield %b : !tile.tile<2x8xf32, accumulator>
  }
  %after = scf.for %i = %c0 to %n step %c1 iter_args(%s = %last) -> (!tile.tile<2x8xf32, accumulator>) {
    %a = tile.map(%s, %half) : (!tile.tile<2x8xf32, accumulator>, f32) -> !tile.tile<2x8xf32, accumulator> {
    ^bb0(%e: f32, %h: f32):
      %p = arith.mulf %e, %h : f32
      tile.yield %p : f32
    }
    scf.yield %a : !tile.tile<2x8xf32, accumulator>
  }
  tile.store %after, %x[%item, %c0, %c0] sizes [1, 2, 8] : !tile.tile<2x8xf32, accumulator>, !tile.view<?x2x8xf32, [16, 8, 1]>
}

// A loop inside of another one begins each time with what the loop before both left:
// it works on a copy.
// CHECK-LABEL: llvm.func @begins_anew_in_each_round(
// CHECK-SAME: attributes {effc.stack_bytes = 128 : i64}
// CHECK-COUNT-2: llvm.alloca
// CHECK: llvm.return
tile.kernel @begins_anew_in_each_round(%item, %x: !tile.view<?x2x8xf32, [16, 8, 1]>)
    items(#tile.items<segments, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %n = tile.count rows
  %init = tile.splat %one : !tile.tile<2x8xf32, accumulator>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (!tile.tile<2x8xf32, accumulator>) {
    %a = tile.map(%s, %half) : (!tile.tile<2x8xf32, accumulator>, f32) -> !tile.tile<2x8xf32, accumulator> {
    ^bb0(%e: f32, %h: f32):
      %p = arith.mulf %e, %h : f32
      tile.yield %p : f32
    }
    scf.yield %a : !tile.tile<2x8xf32, accumulator>
  }
  scf.for %j = %c0 to %n step %c1 {
    %after = scf.for %i = %c0 to %n step %c1 iter_args(%s = %last) -> (!tile.tile<2x8xf32, accumulator>) {
      %a = tile.map(%s, %half) : (!tile.tile<2x8xf32, accumulator>, f32) -> !tile.tile<2x8xf32, accumulator> {
      ^bb0(%e: f32, %h: f32):
        %p = arith.mulf %e, %h : f32
        tile.yield %p : f32
      }
      scf.yield %a : !tile.tile<2x8xf32, accumulator>
    }
    tile.store %after, %x[%item, %c0, %c0] sizes [1, 2, 8] : !tile.tile<2x8xf32, accumulator>, !tile.view<?x2x8xf32, [16, 8, 1]>
  }
}

// x . w^T: lanes run along the 20 contracted elements, two vectors and a masked one
// of 4. 3 rows and 5 outputs are a block of 3 x 4 sums and one of 3 x 1. The sum of
// lanes folds halves onto halves. Those of a row's four outputs share vectors: halves of
// two of them, then quarters of all, each within 4 lanes, then the eighths.
// CHECK-LABEL: llvm.func @product(
// CHECK: scf.for {{.*}} = %c0 to %c16 step %c8 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-12: vector.fma
// CHECK: llvm.intr.masked.load
// CHECK-COUNT-12: vector.fma
// CHECK: %[[L01:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 8, 9, 10, 11]
// CHECK: %[[H01:.*]] = vector.shuffle %{{.*}}, %{{.*}} [4, 5, 6, 7, 12, 13, 14, 15]
// CHECK: %[[S01:.*]] = arith.addf %[[L01]], %[[H01]]
// CHECK: %[[S23:.*]] = arith.addf
// CHECK: %[[L:.*]] = vector.shuffle %[[S01]], %[[S23]] [0, 1, 8, 9, 4, 5, 12, 13]
// CHECK: %[[H:.*]] = vector.shuffle %[[S01]], %[[S23]] [2, 3, 10, 11, 6, 7, 14, 15]
// CHECK: %[[S0213:.*]] = arith.addf %[[L]], %[[H]]
// CHECK: %[[EVEN:.*]] = vector.shuffle %[[S0213]], %[[S0213]] [0, 2, 4, 6]
// CHECK: %[[ODD:.*]] = vector.shuffle %[[S0213]], %[[S0213]] [1, 3, 5, 7]
// CHECK: %[[MIXED:.*]] = arith.addf %[[EVEN]], %[[ODD]]
// CHECK: vector.shuffle %[[MIXED]], %[[MIXED]] [0, 2, 1, 3]
// CHECK: llvm.store %{{.*}} : vector<4xf32>
// CHECK: scf.for {{.*}} = %c0 to %c16 step %c8 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-3: vector.fma
tile.kernel @product(%item, %x: !tile.view<?x20xf32, [32, 1]>, %w: !tile.view<5x20xf32, [32, 1]>, %y: !tile.view<?x5xf32, [16, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0.0 : f32
  %a = tile.load %x[%c0, %c0] sizes [3, 20] : !tile.view<?x20xf32, [32, 1]> -> !tile.tile<3x20xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [5, 20] : !tile.view<5x20xf32, [32, 1]> -> !tile.tile<5x20xf32, operand>
  %acc = tile.splat %none : !tile.tile<3x5xf32, accumulator>
  %p = tile.dot %acc, %a, %b transpose_b : !tile.tile<3x5xf32, accumulator>, !tile.tile<3x20xf32, operand>, !tile.tile<5x20xf32, operand>
  tile.store %p, %y[%c0, %c0] sizes [3, 5] : !tile.tile<3x5xf32, accumulator>, !tile.view<?x5xf32, [16, 1]>
}

// A pass that only sums up products over rows has a sum for even rows and one for
// odd ones, so that no addition waits for the one before; the fifth row is even.
// CHECK-LABEL: llvm.func @probed(
// CHECK: %[[SUMS:.*]]:2 = scf.for %{{.*}} = %c0 to %c4 step %c2 iter_args(%[[EVEN:.*]] = %{{.*}}, %[[ODD:.*]] = %{{.*}}) -> (vector<8xf32>, vector<8xf32>)
// CHECK: %[[NEXT:.*]] = math.fma %{{.*}}, %{{.*}}, %[[EVEN]]
// CHECK: %[[OTHER:.*]] = math.fma %{{.*}}, %{{.*}}, %[[ODD]]
// CHECK: scf.yield %[[NEXT]], %[[OTHER]]
// CHECK: %[[LAST:.*]] = math.fma %{{.*}}, %{{.*}}, %[[SUMS]]#0
// CHECK: %[[SUM:.*]] = arith.addf %[[LAST]], %[[SUMS]]#1
// CHECK: llvm.store %[[SUM]]
tile.kernel @probed(%item, %s: !tile.view<?x5x8xf32, [40, 8, 1]>, %p: !tile.view<?x5xf32, [5, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<segments, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %state = tile.load %s[%item, %c0, %c0] sizes [1, 5, 8] : !tile.view<?x5x8xf32, [40, 8, 1]> -> !tile.tile<5x8xf32, accumulator>
  %probe = tile.load %p[%item, %c0] sizes [1, 5] : !tile.view<?x5xf32, [5, 1]> -> !tile.tile<5xf32, column>
  %seen = tile.map(%state, %probe) : (!tile.tile<5x8xf32, accumulator>, !tile.tile<5xf32, column>) -> !tile.tile<5x8xf32, accumulator> {
  ^bb0(%e: f32, %k: f32):
    %product = arith.mulf %e, %k : f32
    tile.yield %product : f32
  }
  %sum = tile.reduce add %seen over rows : !tile.tile<5x8xf32, accumulator> -> !tile.tile<8xf32, row>
  tile.store %sum, %y[%item, %c0] sizes [1, 8] : !tile.tile<8xf32, row>, !tile.view<?x8xf32, [8, 1]>
}
