// RUN: effc-opt %s --tile-choose-threads --split-input-file | FileCheck %s
// RUN: effc-opt %s --tile-choose-threads --tile-choose-threads --split-input-file | FileCheck %s

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// 16 x 24 elements are 12 for each thread of one warp. Nothing but the schedule changes:
// no tile has a layout yet.
// CHECK-LABEL: tile.kernel @one_warp
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 32>)
// CHECK: tile.load {{.*}} -> <16x24xf32, accumulator>
// CHECK-NEXT: tile.store {{.*}} : <16x24xf32, accumulator>,
// CHECK-NEXT: }
tile.kernel @one_warp(%item, %x: !tile.view<?x24xf32, [24, 1]>, %y: !tile.view<?x24xf32, [24, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [16, 24] : !tile.view<?x24xf32, [24, 1]> -> !tile.tile<16x24xf32, accumulator>
  tile.store %a, %y[%c0, %c0] sizes [16, 24] : !tile.tile<16x24xf32, accumulator>, !tile.view<?x24xf32, [24, 1]>
}

// 33 x 32 elements are one row more than 32 each of one warp.
// CHECK-LABEL: tile.kernel @two_warps
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 64>)
tile.kernel @two_warps(%item, %x: !tile.view<?x32xf32, [32, 1]>, %y: !tile.view<?x32xf32, [32, 1]>)
    items(#tile.items<rows, tile = 33, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [33, 32] : !tile.view<?x32xf32, [32, 1]> -> !tile.tile<33x32xf32, accumulator>
  tile.store %a, %y[%c0, %c0] sizes [33, 32] : !tile.tile<33x32xf32, accumulator>, !tile.view<?x32xf32, [32, 1]>
}

// A row of 520 is more than 8 elements for each of 64 threads.
// CHECK-LABEL: tile.kernel @row
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 128>)
tile.kernel @row(%item, %x: !tile.view<?x520xf32, [520, 1]>, %y: !tile.view<?x520xf32, [520, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 520] : !tile.view<?x520xf32, [520, 1]> -> !tile.tile<520xf32, row>
  tile.store %a, %y[%item, %c0] sizes [1, 520] : !tile.tile<520xf32, row>, !tile.view<?x520xf32, [520, 1]>
}

// 32 x 32 elements are 32 for each thread of one warp, and a loop that carries one such
// block and uses another has 64 of both: the most.
// CHECK-LABEL: tile.kernel @loop
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 32>)
tile.kernel @loop(%item, %x: !tile.view<?x32xf32, [32, 1]>, %y: !tile.view<?x32xf32, [32, 1]>)
    items(#tile.items<rows, tile = 32, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[%c0, %c0] sizes [32, 32] : !tile.view<?x32xf32, [32, 1]> -> !tile.tile<32x32xf32, accumulator>
  %s = scf.for %i = %c0 to %item step %c1 iter_args(%t = %a) -> (!tile.tile<32x32xf32, accumulator>) {
    %m = tile.map(%t, %a) : (!tile.tile<32x32xf32, accumulator>, !tile.tile<32x32xf32, accumulator>) -> !tile.tile<32x32xf32, accumulator> {
    ^bb0(%e0: f32, %e1: f32):
      %sum = arith.addf %e0, %e1 : f32
      tile.yield %sum : f32
    }
    scf.yield %m : !tile.tile<32x32xf32, accumulator>
  }
  tile.store %s, %y[%c0, %c0] sizes [32, 32] : !tile.tile<32x32xf32, accumulator>, !tile.view<?x32xf32, [32, 1]>
}

// With two from outside there would be 96.
// CHECK-LABEL: tile.kernel @loop_of_more
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 64>)
tile.kernel @loop_of_more(%item, %x: !tile.view<?x32xf32, [32, 1]>, %y: !tile.view<?x32xf32, [32, 1]>)
    items(#tile.items<rows, tile = 32, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[%c0, %c0] sizes [32, 32] : !tile.view<?x32xf32, [32, 1]> -> !tile.tile<32x32xf32, accumulator>
  %b = tile.load %x[%item, %c0] sizes [32, 32] : !tile.view<?x32xf32, [32, 1]> -> !tile.tile<32x32xf32, accumulator>
  %s = scf.for %i = %c0 to %item step %c1 iter_args(%t = %a) -> (!tile.tile<32x32xf32, accumulator>) {
    %m = tile.map(%t, %a, %b) : (!tile.tile<32x32xf32, accumulator>, !tile.tile<32x32xf32, accumulator>, !tile.tile<32x32xf32, accumulator>) -> !tile.tile<32x32xf32, accumulator> {
    ^bb0(%e0: f32, %e1: f32, %e2: f32):
      %sum = arith.addf %e0, %e1 : f32
      %all = arith.addf %sum, %e2 : f32
      tile.yield %all : f32
    }
    scf.yield %m : !tile.tile<32x32xf32, accumulator>
  }
  tile.store %s, %y[%c0, %c0] sizes [32, 32] : !tile.tile<32x32xf32, accumulator>, !tile.view<?x32xf32, [32, 1]>
}

// 33 x 20 elements are 20.6 for each thread of one warp, but rows wrap around: of 16
// threads along them some have 3, of 12 columns in runs of four. Two such are loaded, and
// take 36 of each thread's registers for 72.
// CHECK-LABEL: tile.kernel @loaded
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 64>)
tile.kernel @loaded(%item, %x: !tile.view<?x20xf32, [20, 1]>, %y: !tile.view<?x20xf32, [20, 1]>)
    items(#tile.items<rows, tile = 33, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [33, 20] : !tile.view<?x20xf32, [20, 1]> -> !tile.tile<33x20xf32, accumulator>
  %b = tile.load %x[%item, %c0] sizes [33, 20] : !tile.view<?x20xf32, [20, 1]> -> !tile.tile<33x20xf32, accumulator>
  %m = tile.map(%a, %b) : (!tile.tile<33x20xf32, accumulator>, !tile.tile<33x20xf32, accumulator>) -> !tile.tile<33x20xf32, accumulator> {
  ^bb0(%e0: f32, %e1: f32):
    %sum = arith.addf %e0, %e1 : f32
    tile.yield %sum : f32
  }
  tile.store %m, %y[%c0, %c0] sizes [33, 20] : !tile.tile<33x20xf32, accumulator>, !tile.view<?x20xf32, [20, 1]>
}

// 64 x 48 = 3072 elements are 24 for each of 128 threads, and four such blocks, the
// product's sums among them, 96: the most beside an exact product.
// CHECK-LABEL: tile.kernel @room
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 128>)
tile.kernel @room(%item, %x: !tile.view<?x16xf32, [16, 1]>, %w: !tile.view<48x16xf32, [16, 1]>,
    %h: !tile.view<?x48xf32, [48, 1]>, %y: !tile.view<?x48xf32, [48, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(3) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [64, 16] : !tile.view<?x16xf32, [16, 1]> -> !tile.tile<64x16xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [48, 16] : !tile.view<48x16xf32, [16, 1]> -> !tile.tile<48x16xf32, operand>
  %h0 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h1 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h2 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h3 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %d = tile.dot %h0, %a, %b transpose_b : !tile.tile<64x48xf32, accumulator>,
      !tile.tile<64x16xf32, operand>, !tile.tile<48x16xf32, operand>
  %m = tile.map(%d, %h1, %h2, %h3) : (!tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>)
      -> !tile.tile<64x48xf32, accumulator> {
  ^bb0(%e0: f32, %e1: f32, %e2: f32, %e3: f32):
    %s1 = arith.addf %e0, %e1 : f32
    %s2 = arith.addf %s1, %e2 : f32
    %s3 = arith.addf %s2, %e3 : f32
    tile.yield %s3 : f32
  }
  tile.store %m, %y[%c0, %c0] sizes [64, 48] : !tile.tile<64x48xf32, accumulator>, !tile.view<?x48xf32, [48, 1]>
}

// Five would be 120.
// CHECK-LABEL: tile.kernel @no_room
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 256>)
tile.kernel @no_room(%item, %x: !tile.view<?x16xf32, [16, 1]>, %w: !tile.view<48x16xf32, [16, 1]>,
    %h: !tile.view<?x48xf32, [48, 1]>, %y: !tile.view<?x48xf32, [48, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(3) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [64, 16] : !tile.view<?x16xf32, [16, 1]> -> !tile.tile<64x16xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [48, 16] : !tile.view<48x16xf32, [16, 1]> -> !tile.tile<48x16xf32, operand>
  %h0 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h1 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h2 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h3 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h4 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %d = tile.dot %h0, %a, %b transpose_b : !tile.tile<64x48xf32, accumulator>,
      !tile.tile<64x16xf32, operand>, !tile.tile<48x16xf32, operand>
  %m = tile.map(%d, %h1, %h2, %h3, %h4) : (!tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>)
      -> !tile.tile<64x48xf32, accumulator> {
  ^bb0(%e0: f32, %e1: f32, %e2: f32, %e3: f32, %e4: f32):
    %s1 = arith.addf %e0, %e1 : f32
    %s2 = arith.addf %s1, %e2 : f32
    %s3 = arith.addf %s2, %e3 : f32
    %s4 = arith.addf %s3, %e4 : f32
    tile.yield %s4 : f32
  }
  tile.store %m, %y[%c0, %c0] sizes [64, 48] : !tile.tile<64x48xf32, accumulator>, !tile.view<?x48xf32, [48, 1]>
}

// Operands of 16 bits take fewer registers, and leave 128.
// CHECK-LABEL: tile.kernel @rounded
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 128>)
tile.kernel @rounded(%item, %x: !tile.view<?x16xf32, [16, 1]>, %w: !tile.view<48x16xf32, [16, 1]>,
    %h: !tile.view<?x48xf32, [48, 1]>, %y: !tile.view<?x48xf32, [48, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(3) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [64, 16] : !tile.view<?x16xf32, [16, 1]> -> !tile.tile<64x16xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [48, 16] : !tile.view<48x16xf32, [16, 1]> -> !tile.tile<48x16xf32, operand>
  %h0 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h1 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h2 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h3 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %h4 = tile.load %h[%c0, %c0] sizes [64, 48] : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<64x48xf32, accumulator>
  %d = tile.dot %h0, %a, %b transpose_b rounded to bf16 : !tile.tile<64x48xf32, accumulator>,
      !tile.tile<64x16xf32, operand>, !tile.tile<48x16xf32, operand>
  %m = tile.map(%d, %h1, %h2, %h3, %h4) : (!tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>, !tile.tile<64x48xf32, accumulator>)
      -> !tile.tile<64x48xf32, accumulator> {
  ^bb0(%e0: f32, %e1: f32, %e2: f32, %e3: f32, %e4: f32):
    %s1 = arith.addf %e0, %e1 : f32
    %s2 = arith.addf %s1, %e2 : f32
    %s3 = arith.addf %s2, %e3 : f32
    %s4 = arith.addf %s3, %e4 : f32
    tile.yield %s4 : f32
  }
  tile.store %m, %y[%c0, %c0] sizes [64, 48] : !tile.tile<64x48xf32, accumulator>, !tile.view<?x48xf32, [48, 1]>
}

// 64 x 144 sums would be 256 threads' by their number. They come from rows that stay in
// registers: 64 of them are four warps'.
// CHECK-LABEL: tile.kernel @handed_on
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 128>)
tile.kernel @handed_on(%item, %q: !tile.view<?x80xf32, [80, 1]>, %k: !tile.view<?x80xf32, [80, 1]>,
                       %v: !tile.view<?x144xf32, [144, 1]>, %y: !tile.view<?x144xf32, [144, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(3) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %no_scores = tile.splat %f0 : !tile.tile<64x32xf32, accumulator>
  %no_sums = tile.splat %f0 : !tile.tile<64x144xf32, accumulator>
  %a = tile.load %q[%c0, %c0] sizes [64, 80] : !tile.view<?x80xf32, [80, 1]> -> !tile.tile<64x80xf32, operand>
  %b = tile.load %k[%c0, %c0] sizes [32, 80] : !tile.view<?x80xf32, [80, 1]> -> !tile.tile<32x80xf32, operand>
  %c = tile.load %v[%c0, %c0] sizes [32, 144] : !tile.view<?x144xf32, [144, 1]> -> !tile.tile<32x144xf32, operand>
  %s = tile.dot %no_scores, %a, %b transpose_b rounded to bf16 : !tile.tile<64x32xf32, accumulator>,
      !tile.tile<64x80xf32, operand>, !tile.tile<32x80xf32, operand>
  %o = tile.dot %no_sums, %s, %c rounded to bf16 : !tile.tile<64x144xf32, accumulator>,
      !tile.tile<64x32xf32, accumulator>, !tile.tile<32x144xf32, operand>
  tile.store %o, %y[%c0, %c0] sizes [64, 144]
      : !tile.tile<64x144xf32, accumulator>, !tile.view<?x144xf32, [144, 1]>
}
}
// -----

// A block of the target has no more.
module attributes {tile.target = #tile.target<nvptx, block = <threads = 64, shared_bytes = 4096>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32,
    registers = 255, step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
// CHECK-LABEL: tile.kernel @small_block
// CHECK-SAME: schedule(#tile.schedule<decided = threads, threads = 64>)
tile.kernel @small_block(%item, %x: !tile.view<?x520xf32, [520, 1]>, %y: !tile.view<?x520xf32, [520, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 520] : !tile.view<?x520xf32, [520, 1]> -> !tile.tile<520xf32, row>
  tile.store %a, %y[%item, %c0] sizes [1, 520] : !tile.tile<520xf32, row>, !tile.view<?x520xf32, [520, 1]>
}
}
