// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @normalised_attention
func.func @normalised_attention(
    %q: tensor<?x2x3xf32>,
    %k: tensor<?x2x3xf32>,
    %v: tensor<?x6x5xf32>,
    %state: tensor<6x3x5xf32>,
    %sum: tensor<6x3xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) {
  // CHECK: seq.normalised_attention %{{.*}} state(%{{.*}})
  %y, %next_state, %next_sum = seq.normalised_attention %q, %k, %v state(%state, %sum)
        {scale = 5.000000e-01 : f64, eps = 1.000000e-10 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>,
        tensor<6x3xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return %y, %next_state, %next_sum : tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>
}
