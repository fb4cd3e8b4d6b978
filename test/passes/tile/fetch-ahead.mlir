// RUN: effc-opt %s --tile-fetch-ahead --split-input-file --verify-diagnostics | FileCheck %s
// RUN: effc-opt %s --tile-fetch-ahead --tile-fetch-ahead --split-input-file --verify-diagnostics | FileCheck %s

// Of three stages two steps are on their way before the loop, which runs over all
// five; each turn waits for its own, lets the next be pending, and fetches the one
// after that if there is one, to the slot that the turn before has left.
// CHECK-LABEL: tile.kernel @three_stages
// CHECK-SAME: schedule(#tile.schedule<decided = layouts, threads = 32>)
// CHECK: %[[RING:.*]] = tile.ring : <16x32xbf16, operand, #tile.shared<threads = 32, stride = 40, slots = 3>>
// CHECK: tile.fetch %arg1[%{{.*}}, %c0{{.*}}] sizes [16, 32] into %[[RING]]
// CHECK-NEXT: tile.commit
// CHECK: tile.fetch %arg1[%{{.*}}, %c32{{.*}}] sizes [16, 32] into %[[RING]]
// CHECK-NEXT: tile.commit
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %c160{{.*}} step %c32
// CHECK: %[[TURN:.*]] = arith.divui %[[K]], %c32
// CHECK: %[[SLOT:.*]] = arith.remui %[[TURN]], %c3
// CHECK: %[[TILE:.*]] = tile.await %[[RING]][%[[SLOT]]] pending 1
// CHECK-NEXT: tile.barrier
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %c64
// CHECK: %[[LATER:.*]] = arith.addi %[[TURN]], %c2
// CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[AHEAD]], %c160
// CHECK-NEXT: scf.if %[[MORE]] {
// CHECK: %[[NEXT:.*]] = arith.remui %[[LATER]], %c3
// CHECK-NEXT: tile.fetch %arg1[%{{.*}}, %[[AHEAD]]] sizes [16, 32] into %[[RING]][%[[NEXT]]]
// CHECK-NEXT: }
// CHECK-NEXT: tile.commit
// CHECK-NEXT: tile.dot %{{.*}}, %[[TILE]], %[[TILE]] transpose_b
// CHECK-NOT: tile.barrier
tile.kernel @three_stages(%item, %x: !tile.view<?x160xbf16, [160, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(1)
    schedule(#tile.schedule<decided = layouts, threads = 32>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  %sum = tile.pipeline stages 3 extent 160 step 32 iter(%zero)
      : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [16, 32] : !tile.view<?x160xbf16, [160, 1]>
        -> !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>
    tile.yield %a : !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>
  } compute {
  ^bb0(%a: !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>,
       %acc: !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>):
    %d = tile.dot %acc, %a, %a transpose_b
        : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>,
          !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>,
          !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>
    tile.yield %d : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  }
  tile.store %sum, %y[%c0, %c0] sizes [16, 16]
      : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>, !tile.view<?x16xf32, [16, 1]>
}

// -----

// Swizzled columns, whole boxes of an operand that nothing writes, come by themselves:
// their ring has no mbarriers' place yet, and turns instead of slots. Their product
// runs beside the threads, which fetch meanwhile.
// CHECK-LABEL: tile.kernel @boxes
// CHECK: %[[ROWS:.*]] = tile.ring : <64x64xbf16, operand, #tile.shared<threads = 128, stride = 72, slots = 2>>
// CHECK: %[[COLUMNS:.*]] = tile.ring : <48x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, stride = 64, slots = 2>>
// CHECK-NEXT: tile.barrier
// CHECK: tile.fetch_box %arg2[%{{.*}}, %c0{{.*}}] sizes [48, 64] into %[[COLUMNS]][%c0
// CHECK-NOT: tile.fetch_box
// CHECK: tile.fetch %arg1
// CHECK-NEXT: tile.commit
// CHECK: scf.for
// CHECK: tile.await %[[ROWS]]{{.*}} pending 0
// CHECK-NEXT: tile.await_box %[[COLUMNS]]
// CHECK-NEXT: tile.barrier
// CHECK: tile.dot
// CHECK-NEXT: scf.if
// CHECK-NEXT: tile.fetch_box %arg2
// CHECK: tile.fetch %arg1
// CHECK: tile.commit
// CHECK-NEXT: scf.yield
tile.kernel @boxes(%item, %x: !tile.view<?x192xbf16, [192, 1]>, %w: !tile.view<72x192xbf16, [192, 1]>,
                   %y: !tile.view<?x80xf32, [80, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2)
    schedule(#tile.schedule<decided = layouts, threads = 128>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x48xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
  %sum = tile.pipeline stages 2 extent 192 step 64 iter(%zero)
      : !tile.tile<64x48xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64] : !tile.view<?x192xbf16, [192, 1]>
        -> !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, stride = 72>>
    %b = tile.load %w[%c0, %k] sizes [48, 64] : !tile.view<72x192xbf16, [192, 1]>
        -> !tile.tile<48x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, stride = 64>>
    tile.yield %a, %b : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, stride = 72>>,
        !tile.tile<48x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, stride = 64>>
  } compute {
  ^bb0(%a: !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, stride = 72>>,
       %b: !tile.tile<48x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, stride = 64>>,
       %acc: !tile.tile<64x48xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>):
    %d = tile.dot %acc, %a, %b transpose_b by(#tile.wgmma)
        : !tile.tile<64x48xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>,
          !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, stride = 72>>,
          !tile.tile<48x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, stride = 64>>
    tile.yield %d : !tile.tile<64x48xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
  }
  tile.store %sum, %y[%c0, %c0] sizes [64, 48]
      : !tile.tile<64x48xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>, !tile.view<?x80xf32, [80, 1]>
}

// -----

// With one stage nothing runs ahead.
// CHECK-LABEL: tile.kernel @one_stage
// CHECK-NOT: tile.ring
// CHECK: tile.pipeline stages 1
tile.kernel @one_stage(%item, %x: !tile.view<?x160xbf16, [160, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(1)
    schedule(#tile.schedule<decided = layouts, threads = 32>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  %sum = tile.pipeline stages 1 extent 160 step 32 iter(%zero)
      : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [16, 32] : !tile.view<?x160xbf16, [160, 1]>
        -> !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>
    tile.yield %a : !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>
  } compute {
  ^bb0(%a: !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>,
       %acc: !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>):
    %d = tile.dot %acc, %a, %a transpose_b
        : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>,
          !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>,
          !tile.tile<16x32xbf16, operand, #tile.shared<threads = 32, stride = 40>>
    tile.yield %d : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  }
  tile.store %sum, %y[%c0, %c0] sizes [16, 16]
      : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>, !tile.view<?x16xf32, [16, 1]>
}

// -----

// Without layouts nobody knows what lies in shared memory.
// expected-error @+1 {{'tile-fetch-ahead' expects a kernel whose layouts are decided, but got 'too_early' with threads decided; run 'tile-assign-layouts' before}}
tile.kernel @too_early(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = threads, threads = 32>) {
}
