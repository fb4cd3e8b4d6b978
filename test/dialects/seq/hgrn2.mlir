// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @hgrn2
func.func @hgrn2(
    %q: tensor<?x6x3xf32>,
    %forget: tensor<?x6x3xf32>,
    %v: tensor<?x6x5xf32>,
    %lower_bound: tensor<6x3xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.hgrn2 %{{.*}} state(%{{.*}})
  %y, %next = seq.hgrn2 %q, %forget, %v parameters(%lower_bound) state(%state) {scale =
        5.000000e-01 : f64}
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x3xf32>,
        tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
