// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The example of tile.kernel.

// CHECK: tile.kernel @double(%[[ITEM:.*]], %[[X:.*]]: !tile.view<?x6xf32, [8, 1]>, %[[Y:.*]]: !tile.view<?x6xf32, [8, 1]>) items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
tile.kernel @double(%item, %x: !tile.view<?x6xf32, [8, 1]>,
                    %y: !tile.view<?x6xf32, [8, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.load %[[X]][%[[ITEM]], %{{.*}}] sizes [1, 6] : <?x6xf32, [8, 1]> -> <6xf32, row>
  %a = tile.load %x[%item, %c0] sizes [1, 6]
      : !tile.view<?x6xf32, [8, 1]> -> !tile.tile<6xf32, row>
  // CHECK: tile.map(%{{.*}}) : (!tile.tile<6xf32, row>) -> !tile.tile<6xf32, row> {
  %b = tile.map(%a) : (!tile.tile<6xf32, row>) -> !tile.tile<6xf32, row> {
  ^bb0(%e: f32):
    %s = arith.addf %e, %e : f32
    tile.yield %s : f32
  }
  // CHECK: tile.store %{{.*}}, %[[Y]][%[[ITEM]], %{{.*}}] sizes [1, 6] : <6xf32, row>, <?x6xf32, [8, 1]>
  tile.store %b, %y[%item, %c0] sizes [1, 6]
      : !tile.tile<6xf32, row>, !tile.view<?x6xf32, [8, 1]>
}

// All that a kernel says of its operands, and no operands.
// CHECK: tile.kernel @all(%{{.*}}, %{{.*}}: !tile.segments, %{{.*}}: !tile.view<5xf32, [1]>) items(#tile.items<one, tile = 1, times = 3>) writes() streamed(1) aligned(0, 1) schedule(#tile.schedule<threads = 32, shared_bytes = 0>) attributes {note = "a"} {
tile.kernel @all(%item, %s: !tile.segments, %x: !tile.view<5xf32, [1]>)
    items(#tile.items<one, tile = 1, times = 3>) writes() streamed(1) aligned(0, 1)
    schedule(#tile.schedule<threads = 32, shared_bytes = 0>) attributes {note = "a"} {
}
// CHECK: tile.kernel @none(%{{.*}}) items(#tile.items<one, tile = 1, times = 1>) writes() {
tile.kernel @none(%item) items(#tile.items<one, tile = 1, times = 1>) writes() {
}
