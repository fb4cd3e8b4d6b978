// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @running_turn
func.func @running_turn(
    %angle: tensor<?x6x5xf32>,
    %state: tensor<6x1x5xf32>,
    %state_im: tensor<6x1x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>) {
  // CHECK: seq.running_turn %{{.*}} state(%{{.*}}, %{{.*}}) {phase = -5.000000e-01 : f64}
  %y, %next:2 = seq.running_turn %angle state(%state, %state_im) {phase = -5.000000e-01 : f64}
      : (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
  return %y, %next#0, %next#1 : tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>
}

// CHECK-LABEL: func.func @cosine
func.func @cosine(
    %angle: tensor<?x6x5xf32>,
    %state: tensor<6x1x5xf32>,
    %state_im: tensor<6x1x5xf32>) -> tensor<?x6x5xf32> {
  // CHECK: seq.running_turn %{{.*}} state(%{{.*}}, %{{.*}}) :
  %y, %next:2 = seq.running_turn %angle state(%state, %state_im)
      : (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
  return %y : tensor<?x6x5xf32>
}
