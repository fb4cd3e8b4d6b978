// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @store
func.func @store(%a: !tile.tile<64xf32, row>, %y: !tile.view<?x100xf32, [112, 1]>, %row: index, %n: index) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] columns(%{{.*}}) sizes [1, 64] : <64xf32, row>, <?x100xf32, [112, 1]>
  tile.store %a, %y[%row, %c0] columns(%n) sizes [1, 64]
      : !tile.tile<64xf32, row>, !tile.view<?x100xf32, [112, 1]>
  return
}
