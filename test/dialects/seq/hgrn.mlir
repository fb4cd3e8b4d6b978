// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @hgrn
func.func @hgrn(
    %x: tensor<?x6x5xf32>,
    %forget: tensor<?x6x5xf32>,
    %lower_bound: tensor<6x5xf32>,
    %state: tensor<6x1x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>) {
  // CHECK: seq.hgrn %{{.*}} state(%{{.*}})
  %y, %next = seq.hgrn %x, %forget parameters(%lower_bound) state(%state)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x1x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x1x5xf32>
}
