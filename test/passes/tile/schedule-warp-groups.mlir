// DEFINE: %{schedule} = --tile-choose-threads --tile-assign-layouts --tile-fetch-ahead \
// DEFINE:   --tile-place-shared --tile-insert-barriers
// RUN: effc-opt %s %{schedule} | FileCheck %s
// RUN: sed 's/#tile.wgmma, //' %s | effc-opt %{schedule} | FileCheck %s --check-prefix=WARPS

// Where four warps multiply together all of them lie along the rows, and the columns,
// bf16 in memory and 64 deep, are swizzled, at a multiple of 1024 bytes behind the
// rows' ring of 3 x 64 x 72 f32.
// CHECK-LABEL: tile.kernel @linear
// CHECK: tile.ring : <64x64xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 72, slots = 3>>
// CHECK: tile.ring arrivals 79872 : <64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 55296, stride = 64, slots = 3>>
// Its boxes come by themselves: two turns are on their way before anything else, and
// the mbarriers are there for all threads before they wait.
// CHECK-NEXT: tile.barrier
// CHECK: tile.fetch_box %arg2[%{{.*}}, %{{.*}}] sizes [64, 64] into %{{.*}}[%c0
// CHECK: tile.fetch_box %arg2[%{{.*}}, %{{.*}}] sizes [64, 64] into %{{.*}}[%c1
// CHECK: tile.fetch %arg1
// CHECK: tile.commit
// CHECK: tile.fetch %arg1
// CHECK: tile.commit
// CHECK: scf.for
// CHECK: %[[TURN:.*]] = arith.divui
// CHECK: tile.await {{.*}} pending 1
// CHECK: tile.await_box %{{.*}}[%[[TURN]]]
// CHECK-NEXT: tile.barrier
// CHECK: tile.dot {{.*}} by(#tile.wgmma) {{.*}} #tile.mma<threads = 128, row_warps = 4>
// CHECK-NEXT: scf.if
// CHECK: tile.fetch_box %arg2
// CHECK: tile.fetch %arg1

module attributes {tile.target = #tile.target<nvptx, units = [#tile.wgmma, #tile.mma_sync], block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255,
    step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
// WARPS-LABEL: tile.kernel @linear
// WARPS-NOT: swizzled
// WARPS: tile.dot {{.*}} #tile.mma<threads = 128, row_warps =
tile.kernel @linear(%item, %x: !tile.view<?x192xf32, [192, 1]>, %w: !tile.view<64x192xbf16, [192, 1]>,
                    %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x192xf32, [192, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [64, 64]
        : !tile.view<64x192xbf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    tile.yield %a, %b : !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<64x64xf32, operand>, %b: !tile.tile<64x64xf32, operand>,
       %acc: !tile.tile<64x64xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b : !tile.tile<64x64xf32, accumulator>,
        !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
    tile.yield %s : !tile.tile<64x64xf32, accumulator>
  }
  tile.store %d, %y[%c0, %c0] sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator>, !tile.view<?x64xf32, [64, 1]>
}

// Columns that are f32 in memory are read by single warps.
// CHECK-LABEL: tile.kernel @wide
// CHECK-NOT: swizzled
// CHECK: tile.dot {{.*}} transpose_b :
// CHECK-NOT: swizzled
tile.kernel @wide(%item, %x: !tile.view<?x192xf32, [192, 1]>, %w: !tile.view<64x192xf32, [192, 1]>,
                    %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x192xf32, [192, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [64, 64]
        : !tile.view<64x192xf32, [192, 1]> -> !tile.tile<64x64xf32, operand>
    tile.yield %a, %b : !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<64x64xf32, operand>, %b: !tile.tile<64x64xf32, operand>,
       %acc: !tile.tile<64x64xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b : !tile.tile<64x64xf32, accumulator>,
        !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
    tile.yield %s : !tile.tile<64x64xf32, accumulator>
  }
  tile.store %d, %y[%c0, %c0] sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator>, !tile.view<?x64xf32, [64, 1]>
}

// A limit at which the view ends is the box's own.
// CHECK-LABEL: tile.kernel @ends
// CHECK: tile.fetch_box
tile.kernel @ends(%item, %x: !tile.view<?x192xf32, [192, 1]>, %w: !tile.view<72x192xbf16, [192, 1]>,
                    %y: !tile.view<?x72xf32, [72, 1]>)
    items(#tile.items<rows, tile = 64, times = 2>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c72 = arith.constant 72 : index
  %c2 = arith.constant 2 : index
  %run = arith.remui %item, %c2 : index
  %first = arith.muli %run, %c64 : index
  %rest = arith.subi %c72, %first : index
  %count = arith.minsi %rest, %c64 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x192xf32, [192, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%first, %k] rows(%count) sizes [64, 64]
        : !tile.view<72x192xbf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    tile.yield %a, %b : !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<64x64xf32, operand>, %b: !tile.tile<64x64xf32, operand>,
       %acc: !tile.tile<64x64xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b : !tile.tile<64x64xf32, accumulator>,
        !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
    tile.yield %s : !tile.tile<64x64xf32, accumulator>
  }
  tile.store %d, %y[%c0, %first] columns(%count) sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator>, !tile.view<?x72xf32, [72, 1]>
}

// Columns with a limit inside the view pass through threads.
// CHECK-LABEL: tile.kernel @limited
// CHECK-NOT: _box
// CHECK: tile.ring : <64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true
// CHECK-NOT: _box
tile.kernel @limited(%item, %x: !tile.view<?x192xf32, [192, 1]>, %w: !tile.view<72x192xbf16, [192, 1]>,
                    %y: !tile.view<?x72xf32, [72, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x192xf32, [192, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%c0, %k] rows(%c40) sizes [64, 64]
        : !tile.view<72x192xbf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    tile.yield %a, %b : !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<64x64xf32, operand>, %b: !tile.tile<64x64xf32, operand>,
       %acc: !tile.tile<64x64xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b : !tile.tile<64x64xf32, accumulator>,
        !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
    tile.yield %s : !tile.tile<64x64xf32, accumulator>
  }
  tile.store %d, %y[%c0, %c0] sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator>, !tile.view<?x72xf32, [72, 1]>
}

// Rows that are bf16 in memory take half as much of it and are read as they are: a ring
// of 3 x 64 x 72 bf16 is 27648 bytes, a multiple of 1024, and one of 3 x 64 x 64 behind
// it ends at 52224.
// CHECK-LABEL: tile.kernel @narrow_rows
// CHECK: tile.ring : <64x64xbf16, operand, #tile.shared<threads = 128, offset = 0, stride = 72, slots = 3>>
// CHECK: tile.ring arrivals 52224 : <64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 27648, stride = 64, slots = 3>>
// CHECK: tile.fetch %arg1{{.*}} : <?x192xbf16,
// CHECK: tile.dot {{.*}} rounded to bf16 {{.*}} #tile.mma<threads = 128, row_warps = 4>
// CHECK: tile.store {{.*}} : <64x64xf32, {{.*}}, <?x64xbf16
// WARPS-LABEL: tile.kernel @narrow_rows
// WARPS: tile.ring : <64x64xbf16, operand, #tile.shared<threads = 128, offset = 0, stride = 72, slots = 3>>
tile.kernel @narrow_rows(%item, %x: !tile.view<?x192xbf16, [192, 1]>, %w: !tile.view<64x192xbf16, [192, 1]>,
                         %y: !tile.view<?x64xbf16, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x192xbf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [64, 64]
        : !tile.view<64x192xbf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    tile.yield %a, %b : !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<64x64xf32, operand>, %b: !tile.tile<64x64xf32, operand>,
       %acc: !tile.tile<64x64xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b rounded to bf16 : !tile.tile<64x64xf32, accumulator>,
        !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
    tile.yield %s : !tile.tile<64x64xf32, accumulator>
  }
  tile.store %d, %y[%c0, %c0] sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator>, !tile.view<?x64xbf16, [64, 1]>
}
// Two groups lie along the rows: each reads its own, and both all columns.
// CHECK-LABEL: tile.kernel @two_groups
// CHECK: tile.dot {{.*}} #tile.mma<threads = 256, row_warps = 8>
// WARPS-LABEL: tile.kernel @two_groups
// WARPS: tile.dot {{.*}} #tile.mma<threads = 256, row_warps = 4>
tile.kernel @two_groups(%item, %x: !tile.view<?x192xbf16, [192, 1]>, %w: !tile.view<128x192xbf16, [192, 1]>,
                        %y: !tile.view<?x128xf32, [128, 1]>)
    items(#tile.items<rows, tile = 256, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<256x128xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<256x128xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [256, 64]
        : !tile.view<?x192xbf16, [192, 1]> -> !tile.tile<256x64xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [128, 64]
        : !tile.view<128x192xbf16, [192, 1]> -> !tile.tile<128x64xf32, operand>
    tile.yield %a, %b : !tile.tile<256x64xf32, operand>, !tile.tile<128x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<256x64xf32, operand>, %b: !tile.tile<128x64xf32, operand>,
       %acc: !tile.tile<256x128xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b rounded to bf16 : !tile.tile<256x128xf32, accumulator>,
        !tile.tile<256x64xf32, operand>, !tile.tile<128x64xf32, operand>
    tile.yield %s : !tile.tile<256x128xf32, accumulator>
  }
  tile.store %d, %y[%c0, %c0] sizes [256, 128]
      : !tile.tile<256x128xf32, accumulator>, !tile.view<?x128xf32, [128, 1]>
}
}
