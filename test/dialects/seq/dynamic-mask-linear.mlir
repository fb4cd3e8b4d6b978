// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @dynamic_mask_linear
func.func @dynamic_mask_linear(
    %q: tensor<?x2x3xf32>,
    %k: tensor<?x2x3xf32>,
    %v: tensor<?x6x5xf32>,
    %delta: tensor<?x6xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.dynamic_mask_linear %{{.*}} state(%{{.*}})
  %y, %next = seq.dynamic_mask_linear %q, %k, %v, %delta state(%state)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
        tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
