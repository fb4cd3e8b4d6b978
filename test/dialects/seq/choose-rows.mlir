// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 2 axes of 7 keys, 3 heads that choose 4 of 49 rows; then one axis, of which
// each head chooses 2.

// CHECK-LABEL: func.func @choose_rows
func.func @choose_rows(%scores: tensor<?x2x3x7xf32>) -> (tensor<?x12xf32>, tensor<?x12xi32>) {
  // CHECK: seq.choose_rows %{{.*}} {top_k = 4 : i64} : tensor<?x2x3x7xf32> -> tensor<?x12xf32>, tensor<?x12xi32>
  %w, %rows = seq.choose_rows %scores {top_k = 4 : i64}
      : tensor<?x2x3x7xf32> -> tensor<?x12xf32>, tensor<?x12xi32>
  return %w, %rows : tensor<?x12xf32>, tensor<?x12xi32>
}

// CHECK-LABEL: func.func @choose_rows_of_one_axis
func.func @choose_rows_of_one_axis(%scores: tensor<5x1x3x7xf32>) -> (tensor<5x6xf32>, tensor<5x6xi32>) {
  // CHECK: seq.choose_rows %{{.*}} {top_k = 2 : i64, weighting = #seq.weighting<softmax_all>} : tensor<5x1x3x7xf32> -> tensor<5x6xf32>, tensor<5x6xi32>
  %w, %rows = seq.choose_rows %scores {top_k = 2 : i64, weighting = #seq.weighting<softmax_all>}
      : tensor<5x1x3x7xf32> -> tensor<5x6xf32>, tensor<5x6xi32>
  return %w, %rows : tensor<5x6xf32>, tensor<5x6xi32>
}

// CHECK-LABEL: func.func @choose_rows_in_order
func.func @choose_rows_in_order(%scores: tensor<?x1x3x7xf32>, %order: tensor<?x1x3x7xf32>) -> (tensor<?x6xf32>, tensor<?x6xi32>) {
  // CHECK: seq.choose_rows %{{.*}} order(%{{.*}} : tensor<?x1x3x7xf32>) {top_k = 2 : i64, weighting = #seq.weighting<share>} : tensor<?x1x3x7xf32> -> tensor<?x6xf32>, tensor<?x6xi32>
  %w, %rows = seq.choose_rows %scores order(%order : tensor<?x1x3x7xf32>) {top_k = 2 : i64, weighting = #seq.weighting<share>}
      : tensor<?x1x3x7xf32> -> tensor<?x6xf32>, tensor<?x6xi32>
  return %w, %rows : tensor<?x6xf32>, tensor<?x6xi32>
}
