// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @rwkv7
func.func @rwkv7(
    %r: tensor<?x6x3xf32>,
    %w: tensor<?x6x3xf32>,
    %k: tensor<?x6x3xf32>,
    %v: tensor<?x6x5xf32>,
    %kk: tensor<?x6x3xf32>,
    %a: tensor<?x6x3xf32>,
    %state: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.rwkv7 %{{.*}} state(%{{.*}})
  %y, %next = seq.rwkv7 %r, %w, %k, %v, %kk, %a state(%state)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>,
        tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
