// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @top_k
func.func @top_k(%a: !tile.tile<7xf32, row>, %b: !tile.tile<7xf32, row>) {
  // CHECK: tile.top_k %{{.*}}, %{{.*}} : !tile.tile<7xf32, row>, !tile.tile<7xf32, row> -> <4xf32, row>, <4xi32, row>
  %values, %numbers = tile.top_k %a, %b
      : !tile.tile<7xf32, row>, !tile.tile<7xf32, row>
        -> !tile.tile<4xf32, row>, !tile.tile<4xi32, row>
  // CHECK: tile.top_k %{{.*}} : !tile.tile<7xf32, row> -> <3xf32, row>, <3xi32, row>
  %v, %n = tile.top_k %a
      : !tile.tile<7xf32, row> -> !tile.tile<3xf32, row>, !tile.tile<3xi32, row>
  return
}
