// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @gather_rows
func.func @gather_rows(%table: !tile.view<49x12xf32, [16, 1]>, %numbers: !tile.view<?x4xi32, [16, 1]>,
                       %c: index, %row: index, %j: index, %n: index) {
  // CHECK: tile.gather_rows %{{.*}}[%{{.*}}] by %{{.*}}[%{{.*}}, %{{.*}}] columns(%{{.*}}) : <49x12xf32, [16, 1]>, <?x4xi32, [16, 1]> -> <4x8xf32, operand>
  %t = tile.gather_rows %table[%c] by %numbers[%row, %j] columns(%n)
      : !tile.view<49x12xf32, [16, 1]>, !tile.view<?x4xi32, [16, 1]>
        -> !tile.tile<4x8xf32, operand>
  // CHECK: tile.gather_rows %{{.*}}[%{{.*}}] by %{{.*}}[%{{.*}}, %{{.*}}] rows(%{{.*}}) : <49x12xf32, [16, 1]>, <?x4xi32, [16, 1]> -> <2x12xf32, operand>
  %u = tile.gather_rows %table[%c] by %numbers[%row, %j] rows(%n)
      : !tile.view<49x12xf32, [16, 1]>, !tile.view<?x4xi32, [16, 1]>
        -> !tile.tile<2x12xf32, operand>
  return
}
