// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @s4d
func.func @s4d(
    %x: tensor<?x6x5xf32>,
    %log_dt: tensor<6x5xf32>,
    %log_a: tensor<6x3x5xf32>,
    %a_im: tensor<6x3x5xf32>,
    %c: tensor<6x3x5xf32>,
    %c_im: tensor<6x3x5xf32>,
    %d: tensor<6x5xf32>,
    %state: tensor<6x3x5xf32>,
    %state_im: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.s4d %{{.*}} parameters(%{{.*}}) state(%{{.*}}, %{{.*}})
  %y, %next:2 = seq.s4d %x parameters(%log_dt, %log_a, %a_im, %c, %c_im, %d)
        state(%state, %state_im)
      : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>,
        tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>,
        tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
  return %y, %next#0, %next#1 : tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>
}
