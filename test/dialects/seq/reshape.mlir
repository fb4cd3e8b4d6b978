// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<?x30xf32>, %s: tensor<6x4x5xf32>) {
  // CHECK: seq.reshape %{{.*}} : tensor<?x30xf32> -> tensor<?x6x5xf32>
  %heads = seq.reshape %x : tensor<?x30xf32> -> tensor<?x6x5xf32>
  // CHECK: seq.reshape %{{.*}} : tensor<6x4x5xf32> -> tensor<2x3x4x5xf32>
  %groups = seq.reshape %s : tensor<6x4x5xf32> -> tensor<2x3x4x5xf32>
  return
}
