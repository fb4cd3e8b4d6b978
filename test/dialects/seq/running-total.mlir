// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @running_total
func.func @running_total(%x: tensor<?x6x5xf32>, %state: tensor<6x1x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>) {
  // CHECK: seq.running_total %{{.*}} state(%{{.*}}) :
  %y, %next = seq.running_total %x state(%state)
      : (tensor<?x6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x1x5xf32>
}
