// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @segment_sum
func.func @segment_sum(%log_decay: tensor<7x6xf32>) -> tensor<6x7x7xf32> {
  // CHECK: seq.segment_sum %{{.*}} : tensor<7x6xf32> -> tensor<6x7x7xf32>
  %sums = seq.segment_sum %log_decay : tensor<7x6xf32> -> tensor<6x7x7xf32>
  return %sums : tensor<6x7x7xf32>
}

// CHECK-LABEL: func.func @strict
func.func @strict(%x: tensor<7x6xf32>) -> tensor<6x7x7xf32> {
  // CHECK: seq.segment_sum %{{.*}} strict : tensor<7x6xf32> -> tensor<6x7x7xf32>
  %sums = seq.segment_sum %x strict : tensor<7x6xf32> -> tensor<6x7x7xf32>
  return %sums : tensor<6x7x7xf32>
}

// CHECK-LABEL: func.func @exclusive
func.func @exclusive(%x: tensor<7x6xf32>) -> tensor<6x7x7xf32> {
  // CHECK: seq.segment_sum %{{.*}} exclusive : tensor<7x6xf32> -> tensor<6x7x7xf32>
  %sums = seq.segment_sum %x exclusive : tensor<7x6xf32> -> tensor<6x7x7xf32>
  return %sums : tensor<6x7x7xf32>
}
