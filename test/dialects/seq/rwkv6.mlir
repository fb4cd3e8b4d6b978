// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @rwkv6
func.func @rwkv6(
    %r: tensor<?x6x3xf32>,
    %k: tensor<?x6x3xf32>,
    %v: tensor<?x6x5xf32>,
    %w: tensor<?x6x3xf32>,
    %u: tensor<6x3xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.rwkv6 %{{.*}} state(%{{.*}})
  %y, %next = seq.rwkv6 %r, %k, %v, %w parameters(%u) state(%state)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
        tensor<6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
