// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @running_sum
func.func @running_sum(%log_decay: tensor<7x6xf32>) -> (tensor<7x6xf32>, tensor<7x6xf32>) {
  // CHECK: seq.running_sum %{{.*}} : tensor<7x6xf32>
  %since = seq.running_sum %log_decay : tensor<7x6xf32>
  // CHECK: seq.running_sum %{{.*}} reverse exclusive : tensor<7x6xf32>
  %until = seq.running_sum %log_decay reverse exclusive : tensor<7x6xf32>
  return %since, %until : tensor<7x6xf32>, tensor<7x6xf32>
}
