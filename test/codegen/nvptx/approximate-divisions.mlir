// RUN: effc-opt %s --effc-nvptx-kernels --nvptx-write-assembly > %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --input-file %t.ptx
// RUN: sed 's/rounded_to = bf16, //' %s | effc-opt --effc-nvptx-kernels --nvptx-write-assembly > %t.exact.mlir
// RUN: effc-opt %t.exact.mlir --nvptx-emit-ptx=output=%t.exact.ptx -o /dev/null
// RUN: FileCheck %s --input-file %t.exact.ptx --check-prefix=EXACT

// Of a target that rounds products, divisions are products with approximate
// reciprocals, but for those in loops. Where nothing is rounded all are exact.
module attributes {tile.target = #tile.target<nvptx, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_80", features = "+ptx80", vector = 32, registers = 255,
    step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
// CHECK-LABEL: .entry alone(
// CHECK-NOT: div.rn
// CHECK: rcp.approx.ftz.f32
// CHECK-NOT: div.rn
// EXACT-LABEL: .entry alone(
// EXACT-NOT: rcp.approx
// EXACT: div.rn.f32
tile.kernel @alone(%item, %x: !tile.view<3x32xf32, [32, 1]>, %y: !tile.view<3x32xf32, [32, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(1) aligned(0, 1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [1, 32] : !tile.view<3x32xf32, [32, 1]> -> !tile.tile<32xf32, row>
  %q = tile.map(%a) : (!tile.tile<32xf32, row>) -> !tile.tile<32xf32, row> {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %d = arith.addf %one, %e : f32
    %s = arith.divf %e, %d : f32
    tile.yield %s : f32
  }
  tile.store %q, %y[%c0, %c0] sizes [1, 32] : !tile.tile<32xf32, row>, !tile.view<3x32xf32, [32, 1]>
}

// CHECK-LABEL: .entry in_a_loop(
// CHECK-NOT: rcp.approx
// CHECK: div.rn.f32
// CHECK-NOT: rcp.approx
// EXACT-LABEL: .entry in_a_loop(
// EXACT: div.rn.f32
tile.kernel @in_a_loop(%item, %x: !tile.view<3x32xf32, [32, 1]>, %y: !tile.view<3x32xf32, [32, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(1) aligned(0, 1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %row = %c0 to %c3 step %c1 {
    %a = tile.load %x[%row, %c0] sizes [1, 32] : !tile.view<3x32xf32, [32, 1]> -> !tile.tile<32xf32, row>
    %q = tile.map(%a) : (!tile.tile<32xf32, row>) -> !tile.tile<32xf32, row> {
    ^bb0(%e: f32):
      %one = arith.constant 1.0 : f32
      %d = arith.addf %one, %e : f32
      %s = arith.divf %e, %d : f32
      tile.yield %s : f32
    }
    tile.store %q, %y[%row, %c0] sizes [1, 32] : !tile.tile<32xf32, row>, !tile.view<3x32xf32, [32, 1]>
  }
}
}
