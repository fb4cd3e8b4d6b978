// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @permute_channels
func.func @permute_channels(%x: tensor<?x6xf32>, %order: tensor<6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.permute_channels %{{.*}} by %{{.*}} : tensor<?x6xf32>, tensor<6xf32>
  %y = seq.permute_channels %x by %order : tensor<?x6xf32>, tensor<6xf32>
  return %y : tensor<?x6xf32>
}
