// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 3 heads of 7 keys for each half, 5 channels a half.

// CHECK-LABEL: func.func @key_scores
func.func @key_scores(%q: tensor<?x30xf32>, %keys: tensor<21x10xbf16>) -> tensor<?x2x3x7xf32> {
  // CHECK: seq.key_scores %{{.*}}, %{{.*}} {layout = #seq.key_layout<half_head>} : (tensor<?x30xf32>, tensor<21x10xbf16>) -> tensor<?x2x3x7xf32>
  %scores = seq.key_scores %q, %keys {layout = #seq.key_layout<half_head>}
      : (tensor<?x30xf32>, tensor<21x10xbf16>) -> tensor<?x2x3x7xf32>
  return %scores : tensor<?x2x3x7xf32>
}

// CHECK-LABEL: func.func @key_scores_by_head
func.func @key_scores_by_head(%q: tensor<?x30xf32>, %keys: tensor<42x5xf32>) -> tensor<?x2x3x7xf32> {
  // CHECK: seq.key_scores {{.*}} {layout = #seq.key_layout<head_half>}
  %scores = seq.key_scores %q, %keys {layout = #seq.key_layout<head_half>}
      : (tensor<?x30xf32>, tensor<42x5xf32>) -> tensor<?x2x3x7xf32>
  return %scores : tensor<?x2x3x7xf32>
}
