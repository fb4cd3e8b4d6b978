// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @two_axis_gla
func.func @two_axis_gla(
    %q: tensor<?x6x3xf32>,
    %k: tensor<?x6x3xf32>,
    %v: tensor<?x6x5xf32>,
    %key_gate: tensor<?x6x3xf32>,
    %value_gate: tensor<?x6x5xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.two_axis_gla %{{.*}} state(%{{.*}})
  %y, %next = seq.two_axis_gla %q, %k, %v, %key_gate, %value_gate state(%state) {scale
        = 5.000000e-01 : f64, temperature = 1.600000e+01 : f64}
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
        tensor<?x6x5xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
