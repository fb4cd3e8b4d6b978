// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%bias: tensor<6xf32>, %x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.broadcast %{{.*}} along %{{.*}} {dimensions = array<i64: 1>} : tensor<6xf32>, tensor<?x6xf32>
  %rows = seq.broadcast %bias along %x {dimensions = array<i64: 1>}
      : tensor<6xf32>, tensor<?x6xf32>
  return %rows : tensor<?x6xf32>
}
