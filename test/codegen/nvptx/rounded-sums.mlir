// RUN: effc-opt %s --effc-nvptx-kernels --nvptx-write-assembly > %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --input-file %t.ptx

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_90a", features = "+ptx80", vector = 32, registers = 255,
    step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// What rounding took from a product is found by one fused operation and lost by
// another: PTX says where to round, or ptxas fuses as it likes.
// CHECK-LABEL: .entry sums(
// CHECK-NOT: {{mul|add|sub}}.f32
// CHECK: mul.rn.f32
// CHECK-NOT: {{mul|add|sub}}.f32
// CHECK: sub.rn.f32
// CHECK-NOT: {{mul|add|sub}}.f32
// CHECK: add.rn.f32
// CHECK-NOT: {{mul|add|sub}}.f32
// CHECK: .entry end(
tile.kernel @sums(%item, %x: !tile.view<?x32xf32, [32, 1]>, %y: !tile.view<?x32xf32, [32, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) aligned(0, 1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 32]
      : !tile.view<?x32xf32, [32, 1]> -> !tile.tile<32xf32, row>
  %b = tile.map(%a) : (!tile.tile<32xf32, row>) -> !tile.tile<32xf32, row> {
  ^bb0(%e: f32):
    %product = arith.mulf %e, %e : f32
    %difference = arith.subf %product, %e : f32
    %sum = arith.addf %product, %difference : f32
    tile.yield %sum : f32
  }
  tile.store %b, %y[%item, %c0] sizes [1, 32]
      : !tile.tile<32xf32, row>, !tile.view<?x32xf32, [32, 1]>
}

tile.kernel @end(%item, %x: !tile.view<?x32xf32, [32, 1]>, %y: !tile.view<?x32xf32, [32, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) aligned(0, 1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 32]
      : !tile.view<?x32xf32, [32, 1]> -> !tile.tile<32xf32, row>
  tile.store %a, %y[%item, %c0] sizes [1, 32]
      : !tile.tile<32xf32, row>, !tile.view<?x32xf32, [32, 1]>
}
}
