// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @load
func.func @load(%x: !tile.view<?x24x64xf32, [3352, 64, 1]>, %row: index, %h: index, %n: index) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] rows(%{{.*}}) sizes [16, 1, 64] : <?x24x64xf32, [3352, 64, 1]> -> <16x64xf32, operand>
  %a = tile.load %x[%row, %h, %c0] rows(%n) sizes [16, 1, 64]
      : !tile.view<?x24x64xf32, [3352, 64, 1]> -> !tile.tile<16x64xf32, operand>
  // A column along heads, and a block of which one dimension is 1.
  // CHECK: tile.load {{.*}} sizes [1, 24, 1] : <?x24x64xf32, [3352, 64, 1]> -> <24xf32, column>
  %b = tile.load %x[%row, %c0, %h] sizes [1, 24, 1]
      : !tile.view<?x24x64xf32, [3352, 64, 1]> -> !tile.tile<24xf32, column>
  // CHECK: tile.load {{.*}} rows(%{{.*}}) columns(%{{.*}}) sizes [1, 1, 64] : <?x24x64xf32, [3352, 64, 1]> -> <1x64xf32, operand>
  %c = tile.load %x[%row, %h, %c0] rows(%n) columns(%n) sizes [1, 1, 64]
      : !tile.view<?x24x64xf32, [3352, 64, 1]> -> !tile.tile<1x64xf32, operand>
  // CHECK: tile.load {{.*}} sizes [1, 1, 64] fetch_next : <?x24x64xf32, [3352, 64, 1]> -> <64xf32, row>
  %d = tile.load %x[%row, %h, %c0] sizes [1, 1, 64] fetch_next
      : !tile.view<?x24x64xf32, [3352, 64, 1]> -> !tile.tile<64xf32, row>
  return
}
