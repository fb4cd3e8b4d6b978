// RUN: effc-opt %s --tile-assign-layouts --split-input-file --verify-diagnostics | FileCheck %s
// RUN: effc-opt %s --tile-assign-layouts --tile-assign-layouts --split-input-file --verify-diagnostics | FileCheck %s

// Sums of a product lie as tensor cores leave them, in each turn of the loop. A warp has
// 48 x 16 places or 32 x 24, as many; with 32 x 24 it reads fewer operands. What only
// the product reads is loaded to shared memory: rows of 32 and 8 more f32 (32 bytes), so
// that pairs of neighbours in the rows that are read together lie in different banks.
// Nothing has an offset, and no barrier stands yet.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: schedule(#tile.schedule<decided = layouts, threads = 64>)
// CHECK: tile.splat {{.*}} : <48x24xf32, accumulator, #tile.mma<threads = 64, row_warps = 2>>
// CHECK: scf.for
// CHECK-NEXT: tile.load {{.*}} -> <48x32xf32, operand, #tile.shared<threads = 64, stride = 40>>
// CHECK-NEXT: tile.load {{.*}} -> <24x32xf32, operand, #tile.shared<threads = 64, stride = 40>>
// CHECK-NEXT: tile.dot {{.*}} : <48x24xf32, accumulator, #tile.mma<threads = 64, row_warps = 2>>, <48x32xf32, operand, #tile.shared<threads = 64, stride = 40>>, <24x32xf32, operand, #tile.shared<threads = 64, stride = 40>>
// CHECK: tile.store {{.*}} : <48x24xf32, accumulator, #tile.mma<threads = 64, row_warps = 2>>,
tile.kernel @product(%item, %x: !tile.view<?x96xf32, [96, 1]>, %w: !tile.view<24x96xf32, [96, 1]>,
                     %y: !tile.view<?x24xf32, [24, 1]>)
    items(#tile.items<rows, tile = 48, times = 1>) writes(2)
    schedule(#tile.schedule<decided = threads, threads = 64>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<48x24xf32, accumulator>
  %sum = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %zero) -> (!tile.tile<48x24xf32, accumulator>) {
    %a = tile.load %x[%c0, %k] sizes [48, 32]
        : !tile.view<?x96xf32, [96, 1]> -> !tile.tile<48x32xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [24, 32]
        : !tile.view<24x96xf32, [96, 1]> -> !tile.tile<24x32xf32, operand>
    %d = tile.dot %acc, %a, %b transpose_b : !tile.tile<48x24xf32, accumulator>,
        !tile.tile<48x32xf32, operand>, !tile.tile<24x32xf32, operand>
    scf.yield %d : !tile.tile<48x24xf32, accumulator>
  }
  tile.store %sum, %y[%c0, %c0] sizes [48, 24]
      : !tile.tile<48x24xf32, accumulator>, !tile.view<?x24xf32, [24, 1]>
}

// -----

// What a product reads of computed elements is converted, once for both operands, to rows
// of 16 (8, rounded up) and 8 more. The sum of a block lies as the block does, and has
// no bytes to meet in yet.
// CHECK-LABEL: tile.kernel @computed
// CHECK: %[[TWICE:.*]] = tile.map{{.*}} -> !tile.tile<16x8xf32, accumulator, #tile.lin<threads = 32, lanes = 2, vector = 4>>
// CHECK: %[[SHARED:.*]] = tile.convert %[[TWICE]] : {{.*}} -> <16x8xf32, accumulator, #tile.shared<threads = 32, stride = 24>>
// CHECK-NOT: tile.convert
// CHECK: %[[D:.*]] = tile.dot %{{.*}}, %[[SHARED]], %[[SHARED]] transpose_b
// CHECK: tile.reduce add %[[D]] over columns : <16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>> -> !tile.tile<16xf32, column, #tile.mma<threads = 32, row_warps = 1>>
tile.kernel @computed(%item, %x: !tile.view<16x8xf32, [8, 1]>, %y: !tile.view<16x1xf32, [1, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(1)
    schedule(#tile.schedule<decided = threads, threads = 32>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x16xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 8] : !tile.view<16x8xf32, [8, 1]> -> !tile.tile<16x8xf32, accumulator>
  %twice = tile.map(%a) : (!tile.tile<16x8xf32, accumulator>) -> !tile.tile<16x8xf32, accumulator> {
  ^bb0(%e: f32):
    %s = arith.addf %e, %e : f32
    tile.yield %s : f32
  }
  %d = tile.dot %zero, %twice, %twice transpose_b : !tile.tile<16x16xf32, accumulator>,
      !tile.tile<16x8xf32, accumulator>, !tile.tile<16x8xf32, accumulator>
  %r = tile.reduce add %d over columns : !tile.tile<16x16xf32, accumulator> -> !tile.tile<16xf32, column>
  tile.store %r, %y[%c0, %c0] sizes [16, 1] : !tile.tile<16xf32, column>, !tile.view<16x1xf32, [1, 1]>
}

// -----

// The passes have an order.
// expected-error @+1 {{'tile-assign-layouts' expects a kernel whose threads are decided, but got 'too_early' with nothing decided; run 'tile-choose-threads' before}}
tile.kernel @too_early(%item) items(#tile.items<one, tile = 1, times = 1>) writes() {
}

// -----

// A target of warp groups alone has no unit for a product of one warp.
module attributes {tile.target = #tile.target<nvptx, units = [#tile.wgmma], block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
tile.kernel @no_unit(%item, %x: !tile.view<16x48xf32, [48, 1]>, %w: !tile.view<24x48xbf16, [48, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = threads, threads = 32>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %acc = tile.splat %f0 : !tile.tile<16x24xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 48] : !tile.view<16x48xf32, [48, 1]> -> !tile.tile<16x48xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [24, 48] : !tile.view<24x48xbf16, [48, 1]> -> !tile.tile<24x48xf32, operand>
  // expected-error @+2 {{'tile.dot' op expects a product unit that forms sums of 16 x 24 by 1 warps, but got a target with #tile.wgmma}}
  // expected-note @+1 {{#tile.mma_sync forms those of any shape}}
  %d = tile.dot %acc, %a, %b transpose_b : !tile.tile<16x24xf32, accumulator>,
      !tile.tile<16x48xf32, operand>, !tile.tile<24x48xf32, operand>
}
}

// -----

// Sums of runs of a row lie in the lanes that have these runs: of 5 x 256, 32 lanes with
// a run of 8 each, and one sum of each run.
// CHECK-LABEL: tile.kernel @runs
// CHECK: tile.splat {{.*}} : <5x32xf32, accumulator, #tile.lin<threads = 32, lanes = 32, vector = 1>>
// CHECK: tile.load {{.*}} -> <5x256xf32, accumulator, #tile.lin<threads = 32, lanes = 32, vector = 8>>
// CHECK: tile.load {{.*}} -> <256xf32, row, #tile.lin<threads = 32, lanes = 32, vector = 8>>
// CHECK: tile.reduce add {{.*}} -> !tile.tile<5xf32, column, #tile.lin<threads = 32, lanes = 32, vector = 1>>
!bundle = !storage.block<"q8_0", elements = 512, bytes = 544, digits = [16, 32],
  code = int [8 at 0 [256, 8]], scale = [f16 [16 at 4096 [16, 0]]]>
tile.kernel @runs(%item, %x: !tile.view<?x512xf32, [512, 1]>, %w: !tile.view<5x512x!bundle, [512, 1]>,
                  %y: !tile.view<?x5xf32, [5, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2)
    schedule(#tile.schedule<decided = threads, threads = 32>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<5x32xf32, accumulator>
  %a = tile.load %w[%c0, %c0] sizes [5, 256]
      : !tile.view<5x512x!bundle, [512, 1]> -> !tile.tile<5x256xf32, accumulator>
  %b = tile.load %x[%item, %c0] sizes [1, 256]
      : !tile.view<?x512xf32, [512, 1]> -> !tile.tile<256xf32, row>
  %d = tile.dot_runs %zero, %a, %b : !tile.tile<5x32xf32, accumulator>,
      !tile.tile<5x256xf32, accumulator>, !tile.tile<256xf32, row>
  %s = tile.reduce add %d over columns : !tile.tile<5x32xf32, accumulator> -> !tile.tile<5xf32, column>
  tile.store %s, %y[%item, %c0] sizes [1, 5]
      : !tile.tile<5xf32, column>, !tile.view<?x5xf32, [5, 1]>
}
