// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @count_better
func.func @count_better(%d: tensor<5x2xf32>, %pk: tensor<5xi32>, %e: tensor<3x2xf32>, %pe: tensor<3xi32>, %pq: tensor<7xi32>) {
  // CHECK: seq.count_better %{{.*}} at(%{{.*}}) among %{{.*}} at(%{{.*}}) queries(%{{.*}}) {window = 4 : i64} : (tensor<5x2xf32>, tensor<5xi32>, tensor<3x2xf32>, tensor<3xi32>, tensor<7xi32>) -> tensor<2x7x5xf32>
  %ranks = seq.count_better %d at(%pk) among %e at(%pe) queries(%pq) {window = 4 : i64}
      : (tensor<5x2xf32>, tensor<5xi32>, tensor<3x2xf32>, tensor<3xi32>,
         tensor<7xi32>) -> tensor<2x7x5xf32>
  // CHECK: seq.count_better {{.*}} queries(%{{.*}}) passed {window = 4 : i64}
  %old = seq.count_better %d at(%pk) among %e at(%pe) queries(%pq) passed {window = 4 : i64}
      : (tensor<5x2xf32>, tensor<5xi32>, tensor<3x2xf32>, tensor<3xi32>, tensor<7xi32>) -> tensor<2x7x5xf32>
  return
}

// CHECK-LABEL: func.func @keep_best
func.func @keep_best(%scores: tensor<6x7x5xf32>, %ranks: tensor<2x7x5xf32>) {
  // CHECK: seq.keep_best %{{.*}}, %{{.*}} {keep = 3 : i64} : tensor<6x7x5xf32>, tensor<2x7x5xf32>
  %y = seq.keep_best %scores, %ranks {keep = 3 : i64}
      : tensor<6x7x5xf32>, tensor<2x7x5xf32>
  return
}
