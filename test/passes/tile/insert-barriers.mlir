// RUN: effc-opt %s --tile-insert-barriers --split-input-file --verify-diagnostics | FileCheck %s
// RUN: effc-opt %s --tile-insert-barriers --tile-insert-barriers --split-input-file --verify-diagnostics | FileCheck %s

// What threads load to shared memory others multiply, and the next turn's load waits
// until they have. The first turn waits for nobody, but the barrier is the loop's.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: schedule(#tile.schedule<threads = 32, shared_bytes = 2560>)
// CHECK-NOT: tile.barrier
// CHECK: scf.for
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.dot
// CHECK-NOT: tile.barrier
tile.kernel @product(%item, %x: !tile.view<?x96xf32, [96, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(1)
    schedule(#tile.schedule<decided = places, threads = 32, shared_bytes = 2560>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  %sum = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %zero)
      -> (!tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>) {
    %a = tile.load %x[%c0, %k] sizes [16, 32] : !tile.view<?x96xf32, [96, 1]>
        -> !tile.tile<16x32xf32, operand, #tile.shared<threads = 32, offset = 0, stride = 40>>
    %d = tile.dot %acc, %a, %a transpose_b
        : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>,
          !tile.tile<16x32xf32, operand, #tile.shared<threads = 32, offset = 0, stride = 40>>,
          !tile.tile<16x32xf32, operand, #tile.shared<threads = 32, offset = 0, stride = 40>>
    scf.yield %d : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  }
  tile.store %sum, %y[%c0, %c0] sizes [16, 16]
      : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>, !tile.view<?x16xf32, [16, 1]>
}

// -----

// Of a state that is read, added to and written each element is one thread's: nobody
// waits. Whoever then reads the view another way does.
// CHECK-LABEL: tile.kernel @own_state
// CHECK: tile.load
// CHECK-NOT: tile.barrier
// CHECK: tile.store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.load
// CHECK-NOT: tile.barrier
// CHECK: tile.store
tile.kernel @own_state(%item, %s: !tile.view<8x16xf32, [16, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(0, 1)
    schedule(#tile.schedule<decided = places, threads = 32, shared_bytes = 0>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %s[%c0, %c0] sizes [8, 16] : !tile.view<8x16xf32, [16, 1]>
      -> !tile.tile<8x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 4>>
  %b = tile.map(%a) : (!tile.tile<8x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 4>>)
      -> !tile.tile<8x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 4>> {
  ^bb0(%e: f32):
    %t = arith.addf %e, %e : f32
    tile.yield %t : f32
  }
  tile.store %b, %s[%c0, %c0] sizes [8, 16]
      : !tile.tile<8x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 4>>,
        !tile.view<8x16xf32, [16, 1]>
  %r = tile.load %s[%c0, %c0] sizes [1, 16] : !tile.view<8x16xf32, [16, 1]>
      -> !tile.tile<16xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 4>>
  tile.store %r, %y[%c0, %c0] sizes [1, 16]
      : !tile.tile<16xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 4>>, !tile.view<?x16xf32, [16, 1]>
}

// -----

// Two exchanges through the same bytes wait for each other, through others they do not.
// CHECK-LABEL: tile.kernel @exchanges
// CHECK: tile.reduce add {{.*}} scratch 0
// CHECK-NEXT: tile.reduce add {{.*}} scratch 64
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.reduce max {{.*}} scratch 0
tile.kernel @exchanges(%item, %x: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 24, times = 1>) writes()
    schedule(#tile.schedule<decided = places, threads = 64, shared_bytes = 192>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [1, 8] : !tile.view<?x16xf32, [16, 1]>
      -> !tile.tile<8xf32, row, #tile.lin<threads = 64, lanes = 2, vector = 4>>
  %p = tile.reduce add %a over columns scratch 0
      : !tile.tile<8xf32, row, #tile.lin<threads = 64, lanes = 2, vector = 4>> -> f32
  %q = tile.reduce add %a over columns scratch 64
      : !tile.tile<8xf32, row, #tile.lin<threads = 64, lanes = 2, vector = 4>> -> f32
  %m = tile.reduce max %a over columns scratch 0
      : !tile.tile<8xf32, row, #tile.lin<threads = 64, lanes = 2, vector = 4>> -> f32
}

// -----

// Without places nobody knows which bytes are whose.
// expected-error @+1 {{'tile-insert-barriers' expects a kernel whose places are decided, but got 'too_early' with layouts decided; run 'tile-place-shared' before}}
tile.kernel @too_early(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = layouts, threads = 32>) {
}
