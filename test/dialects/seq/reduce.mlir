// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<?x6x5xf32>) -> tensor<?x5xf32> {
  // CHECK: seq.reduce sum %{{.*}} {axis = 1 : i64} : tensor<?x6x5xf32> -> tensor<?x5xf32>
  %total = seq.reduce sum %x {axis = 1 : i64} : tensor<?x6x5xf32> -> tensor<?x5xf32>
  return %total : tensor<?x5xf32>
}

// CHECK-LABEL: func.func @reduce_to_scalar
func.func @reduce_to_scalar(%x: tensor<5xf32>) -> tensor<f32> {
  // CHECK: seq.reduce max %{{.*}} {axis = 0 : i64} : tensor<5xf32> -> tensor<f32>
  %largest = seq.reduce max %x {axis = 0 : i64} : tensor<5xf32> -> tensor<f32>
  return %largest : tensor<f32>
}
