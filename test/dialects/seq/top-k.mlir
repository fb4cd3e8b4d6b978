// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @top_k
func.func @top_k(%x: tensor<?x2x7xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xi32>) {
  // CHECK: seq.top_k %{{.*}} : tensor<?x2x7xf32> -> tensor<?x2x3xf32>, tensor<?x2x3xi32>
  %values, %numbers = seq.top_k %x
      : tensor<?x2x7xf32> -> tensor<?x2x3xf32>, tensor<?x2x3xi32>
  return %values, %numbers : tensor<?x2x3xf32>, tensor<?x2x3xi32>
}
