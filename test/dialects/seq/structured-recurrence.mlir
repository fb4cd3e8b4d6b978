// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @structured_recurrence
func.func @structured_recurrence(
    %x: tensor<?x6x5xf32>,
    %source: tensor<?x6xf32>,
    %target: tensor<?x6xf32>,
    %bias: tensor<?x6xf32>,
    %log_decay: tensor<6xf32>,
    %state: tensor<6x1x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>) {
  // CHECK: seq.structured_recurrence %{{.*}} state(%{{.*}})
  %y, %next = seq.structured_recurrence %x, %source, %target, %bias
        parameters(%log_decay) state(%state)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>,
        tensor<6xf32>, tensor<6x1x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x1x5xf32>
}
