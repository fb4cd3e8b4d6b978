// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @read
func.func @read(%x: !tile.view<?x24xf32, [3352, 1]>, %t: !tile.view<?xi32, [1]>, %row: index, %h: index) {
  // CHECK: tile.read %{{.*}}[%{{.*}}, %{{.*}}] : <?x24xf32, [3352, 1]> -> f32
  %dt = tile.read %x[%row, %h] : !tile.view<?x24xf32, [3352, 1]> -> f32
  // CHECK: tile.read %{{.*}}[%{{.*}}] : <?xi32, [1]> -> index
  %i = tile.read %t[%row] : !tile.view<?xi32, [1]> -> index
  return
}
