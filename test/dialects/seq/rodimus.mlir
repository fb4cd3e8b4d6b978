// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @rodimus
func.func @rodimus(
    %q: tensor<?x6x3xf32>,
    %k: tensor<?x6x3xf32>,
    %v: tensor<?x6x5xf32>,
    %select: tensor<?x6x3xf32>,
    %temper: tensor<?x6x3xf32>,
    %x: tensor<?x6x5xf32>,
    %d: tensor<6x5xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.rodimus %{{.*}} state(%{{.*}})
  %y, %next = seq.rodimus %q, %k, %v, %select, %temper, %x parameters(%d) state(%state)
        {scale = 5.000000e-01 : f64}
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
        tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
