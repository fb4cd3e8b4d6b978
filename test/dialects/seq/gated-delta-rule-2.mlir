// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @gated_delta_rule_2
func.func @gated_delta_rule_2(
    %q: tensor<?x2x3xf32>,
    %k: tensor<?x2x3xf32>,
    %v: tensor<?x6x5xf32>,
    %erase: tensor<?x2x3xf32>,
    %write: tensor<?x6x5xf32>,
    %f: tensor<?x6x3xf32>,
    %a_log: tensor<6xf32>,
    %dt_bias: tensor<6x3xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.gated_delta_rule_2 %{{.*}} parameters(%{{.*}}) state(%{{.*}})
  %y, %next = seq.gated_delta_rule_2 %q, %k, %v, %erase, %write, %f
        parameters(%a_log, %dt_bias) state(%state) {scale = 5.000000e-01 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>,
        tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
