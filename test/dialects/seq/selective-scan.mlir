// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @selective_scan
func.func @selective_scan(
    %x: tensor<?x6x5xf32>,
    %dt: tensor<?x6x5xf32>,
    %b: tensor<?x2x3xf32>,
    %c: tensor<?x2x3xf32>,
    %a_log: tensor<6x3x5xf32>,
    %dt_bias: tensor<6x5xf32>,
    %d: tensor<6x5xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.selective_scan %{{.*}} state(%{{.*}})
  %y, %next = seq.selective_scan %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d)
        state(%state)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>,
        tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
