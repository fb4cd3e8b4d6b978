// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @stabilise
func.func @stabilise(%log_decay: tensor<7x6xf32>, %log_gate: tensor<7x6xf32>, %m0: tensor<6xf32>) -> (tensor<7x6xf32>, tensor<7x6xf32>, tensor<7x6xf32>, tensor<6xf32>) {
  // CHECK: seq.stabilise %{{.*}}, %{{.*}} from %{{.*}} : tensor<7x6xf32>, tensor<6xf32>
  %d, %i, %m, %last = seq.stabilise %log_decay, %log_gate from %m0
      : tensor<7x6xf32>, tensor<6xf32>
  return %d, %i, %m, %last : tensor<7x6xf32>, tensor<7x6xf32>, tensor<7x6xf32>, tensor<6xf32>
}
