// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @kimi_delta_attention
func.func @kimi_delta_attention(
    %q: tensor<?x2x3xf32>,
    %k: tensor<?x2x3xf32>,
    %v: tensor<?x6x5xf32>,
    %beta: tensor<?x6xf32>,
    %f: tensor<?x6x3xf32>,
    %a_log: tensor<6xf32>,
    %dt_bias: tensor<6x3xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.kimi_delta_attention %{{.*}} state(%{{.*}})
  %y, %next = seq.kimi_delta_attention %q, %k, %v, %beta, %f parameters(%a_log, %dt_bias) state(%state)
        {scale = 5.000000e-01 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
        tensor<?x6x3xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
