// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @best
func.func @best(%x: tensor<?x7xf32>) -> tensor<?x2xf32> {
  // CHECK: seq.best %{{.*}} : tensor<?x7xf32> -> tensor<?x2xf32>
  %y = seq.best %x : tensor<?x7xf32> -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
