// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @normalised_rotary
func.func @normalised_rotary(
    %tq: tensor<?x2x3xf32>,
    %tk: tensor<?x2x3xf32>,
    %q: tensor<?x2x3xf32>,
    %k: tensor<?x2x3xf32>,
    %v: tensor<?x6x5xf32>,
    %dt: tensor<?x6xf32>,
    %a_log: tensor<6xf32>,
    %dt_bias: tensor<6xf32>,
    %state: tensor<6x3x5xf32>,
    %sum: tensor<6x3xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) {
  // CHECK: seq.normalised_rotary %{{.*}} parameters(%{{.*}}) state(%{{.*}})
  %y, %next_state, %next_sum = seq.normalised_rotary %tq, %tk, %q, %k, %v, %dt
        parameters(%a_log, %dt_bias) state(%state, %sum) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>,
        tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>,
        tensor<6x3x5xf32>, tensor<6x3xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return %y, %next_state, %next_sum : tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>
}
