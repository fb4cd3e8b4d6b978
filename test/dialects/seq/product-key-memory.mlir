// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 3 heads choose 4 of 49 rows of 5 channels.

// CHECK-LABEL: func.func @product_key_memory
func.func @product_key_memory(%scores: tensor<?x2x3x7xf32>, %values: tensor<49x5xbf16>) -> tensor<?x5xf32> {
  // CHECK: seq.product_key_memory %{{.*}} parameters(%{{.*}}) {top_k = 4 : i64} : tensor<?x2x3x7xf32>, (tensor<49x5xbf16>) -> tensor<?x5xf32>
  %y = seq.product_key_memory %scores parameters(%values) {top_k = 4 : i64}
      : tensor<?x2x3x7xf32>, (tensor<49x5xbf16>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// CHECK-LABEL: func.func @product_key_memory_step_with_form
func.func @product_key_memory_step_with_form(%scores: tensor<1x2x3x7xf32>, %values: tensor<50x5xf32>) -> tensor<1x5xf32> {
  // CHECK: {form = #seq.form<kind = step>, top_k = 49 : i64, weighting = #seq.weighting<sigmoid>}
  %y = seq.product_key_memory %scores parameters(%values)
      {form = #seq.form<kind = step>, top_k = 49 : i64, weighting = #seq.weighting<sigmoid>}
      : tensor<1x2x3x7xf32>, (tensor<50x5xf32>) -> tensor<1x5xf32>
  return %y : tensor<1x5xf32>
}
