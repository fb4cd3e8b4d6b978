// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @mlstm
func.func @mlstm(
    %q: tensor<?x2x3xf32>,
    %k: tensor<?x2x3xf32>,
    %v: tensor<?x6x5xf32>,
    %input: tensor<?x6xf32>,
    %forget: tensor<?x6xf32>,
    %state: tensor<6x3x5xf32>,
    %sum: tensor<6x3xf32>,
    %maximum: tensor<6xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>) {
  // CHECK: seq.mlstm %{{.*}} state(%{{.*}})
  %y, %next_state, %next_sum, %next_maximum = seq.mlstm %q, %k, %v, %input, %forget
        state(%state, %sum, %maximum) {scale = 5.000000e-01 : f64, eps = 1.000000e-06 :
        f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
        tensor<?x6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>)
  return %y, %next_state, %next_sum, %next_maximum : tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>
}
