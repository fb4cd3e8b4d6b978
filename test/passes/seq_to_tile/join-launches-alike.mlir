// RUN: effc-opt %s --tile-join-launches 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: sed 's/bandwidth = 1446/bandwidth = 10/' %s | effc-opt --tile-join-launches | FileCheck %s --check-prefix=APART
// RUN: sed 's/<rows, tile = 1/<segments, tile = 1/' %s | effc-opt --tile-join-launches | FileCheck %s --check-prefix=APART
// RUN: sed 's/kind decode/kind prefill/' %s | effc-opt --tile-join-launches | FileCheck %s --check-prefix=APART

// Sums of 192 and of 88 channels, by two kernels, of rows that have nothing in common. In
// the 2,500 cycles of a launch memory moves 3.6 MB, and these move 46 and 21 KB, so they
// are one launch. Products, between them, are something else. Sums of 32,768 channels
// move 7.9 MB for 30 rows. What another memory moves in a launch is 25 KB, which is less
// than the first moves. Items of segments may have states, and stay too.

// CHECK-LABEL: plan.entry @decode_30
// CHECK: plan.launch @few_joined(%{{.*}}, %[[A:.*]], %{{.*}}, %[[C:.*]]) items <rows, tile = 1, times = 2> note "m.first+second"
// CHECK: plan.launch @products(%[[A]],{{.*}}note "m.between"
// CHECK: plan.launch @many({{.*}}note "m.long"
// CHECK-NOT: plan.launch
// CHECK-LABEL: tile.kernel @few_joined(
// CHECK: sizes [1, 192]
// CHECK: sizes [1, 88]
// REMARK: one launch of 2 brief ones, which do alike
// APART-NOT: _joined
module attributes {
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
plan.entry @decode_30 kind decode rows 30 chunk 1 {
  %x = plan.arena bytes 23040
  %y = plan.arena bytes 10560
  %z = plan.arena bytes 3932160
  %a = plan.arena bytes 23040
  plan.launch @few(%x, %a) items <rows, tile = 1, times = 1> note "m.first"
  %b = plan.arena bytes 23040
  plan.launch @products(%a, %b) items <rows, tile = 1, times = 1> note "m.between"
  %c = plan.arena bytes 10560
  plan.launch @fewer(%y, %c) items <rows, tile = 1, times = 1> note "m.second"
  %d = plan.arena bytes 3932160
  plan.launch @many(%z, %d) items <rows, tile = 1, times = 1> note "m.long"
}
tile.kernel @few(%row, %x: !tile.view<?x192xf32, [192, 1]>, %y: !tile.view<?x192xf32, [192, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%row, %c0] sizes [1, 192] : <?x192xf32, [192, 1]> -> <192xf32, row>
  %1 = tile.map(%0) : (!tile.tile<192xf32, row>) -> !tile.tile<192xf32, row> {
  ^bb0(%e: f32):
    %2 = arith.addf %e, %e : f32
    tile.yield %2 : f32
  }
  tile.store %1, %y[%row, %c0] sizes [1, 192] : <192xf32, row>, <?x192xf32, [192, 1]>
}
tile.kernel @products(%row, %x: !tile.view<?x192xf32, [192, 1]>, %y: !tile.view<?x192xf32, [192, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%row, %c0] sizes [1, 192] : <?x192xf32, [192, 1]> -> <192xf32, row>
  %1 = tile.map(%0) : (!tile.tile<192xf32, row>) -> !tile.tile<192xf32, row> {
  ^bb0(%e: f32):
    %2 = arith.mulf %e, %e : f32
    tile.yield %2 : f32
  }
  tile.store %1, %y[%row, %c0] sizes [1, 192] : <192xf32, row>, <?x192xf32, [192, 1]>
}
tile.kernel @fewer(%row, %x: !tile.view<?x88xf32, [88, 1]>, %y: !tile.view<?x88xf32, [88, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%row, %c0] sizes [1, 88] : <?x88xf32, [88, 1]> -> <88xf32, row>
  %1 = tile.map(%0) : (!tile.tile<88xf32, row>) -> !tile.tile<88xf32, row> {
  ^bb0(%e: f32):
    %2 = arith.addf %e, %e : f32
    tile.yield %2 : f32
  }
  tile.store %1, %y[%row, %c0] sizes [1, 88] : <88xf32, row>, <?x88xf32, [88, 1]>
}
tile.kernel @many(%row, %x: !tile.view<?x32768xf32, [32768, 1]>, %y: !tile.view<?x32768xf32, [32768, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %0 = tile.load %x[%row, %c0] sizes [1, 32768] : <?x32768xf32, [32768, 1]> -> <32768xf32, row>
  %1 = tile.map(%0) : (!tile.tile<32768xf32, row>) -> !tile.tile<32768xf32, row> {
  ^bb0(%e: f32):
    %2 = arith.addf %e, %e : f32
    tile.yield %2 : f32
  }
  tile.store %1, %y[%row, %c0] sizes [1, 32768] : <32768xf32, row>, <?x32768xf32, [32768, 1]>
}
}
