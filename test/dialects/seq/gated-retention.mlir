// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @gated_retention
func.func @gated_retention(
    %q: tensor<?x2x3xf32>,
    %k: tensor<?x2x3xf32>,
    %v: tensor<?x6x5xf32>,
    %gate: tensor<?x6xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.gated_retention %{{.*}} state(%{{.*}})
  %y, %next = seq.gated_retention %q, %k, %v, %gate state(%state) {scale = 5.000000e-01
        : f64, temperature = 1.600000e+01 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
        tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
