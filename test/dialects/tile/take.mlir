// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @take
func.func @take(%a: !tile.tile<7xf32, row>, %numbers: !tile.tile<4xi32, row>) {
  // CHECK: tile.take %{{.*}} by %{{.*}} : <7xf32, row>, <4xi32, row> -> <4xf32, row>
  %t = tile.take %a by %numbers
      : !tile.tile<7xf32, row>, !tile.tile<4xi32, row> -> !tile.tile<4xf32, row>
  // Numbers of a weight, which are f32.
  // CHECK: tile.take %{{.*}} by %{{.*}} : <7xf32, row>, <7xf32, row> -> <7xf32, row>
  %u = tile.take %a by %a
      : !tile.tile<7xf32, row>, !tile.tile<7xf32, row> -> !tile.tile<7xf32, row>
  return
}
