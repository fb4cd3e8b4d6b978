// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<?x2x3xf32>) -> tensor<?x2x3xf32> {
  // CHECK: seq.softmax %{{.*}} : tensor<?x2x3xf32>
  %y = seq.softmax %x : tensor<?x2x3xf32>
  return %y : tensor<?x2x3xf32>
}
