// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @gated_delta_rule
func.func @gated_delta_rule(
    %q: tensor<?x2x3xf32>,
    %k: tensor<?x2x3xf32>,
    %v: tensor<?x6x5xf32>,
    %beta: tensor<?x6xf32>,
    %a: tensor<?x6xf32>,
    %a_log: tensor<6xf32>,
    %dt_bias: tensor<6xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.gated_delta_rule %{{.*}} state(%{{.*}})
  %y, %next = seq.gated_delta_rule %q, %k, %v, %beta, %a parameters(%a_log, %dt_bias)
        state(%state) {scale = 5.000000e-01 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
        tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
