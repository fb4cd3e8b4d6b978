// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @rwkv4
func.func @rwkv4(
    %k: tensor<?x6x5xf32>,
    %v: tensor<?x6x5xf32>,
    %w: tensor<6x5xf32>,
    %u: tensor<6x5xf32>,
    %state: tensor<6x1x5xf32>,
    %sum: tensor<6x1x5xf32>,
    %maximum: tensor<6x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>) {
  // CHECK: seq.rwkv4 %{{.*}} state(%{{.*}})
  %y, %next_state, %next_sum, %next_maximum = seq.rwkv4 %k, %v parameters(%w, %u)
        state(%state, %sum, %maximum)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>,
        tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
  return %y, %next_state, %next_sum, %next_maximum : tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>
}
