// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @best
func.func @best(%x: tensor<?x7xf32>, %d: tensor<?x4xi32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  // CHECK: seq.best %{{.*}} : tensor<?x7xf32> -> tensor<?x2xf32>
  %y = seq.best %x : tensor<?x7xf32> -> tensor<?x2xf32>
  // CHECK: seq.best %{{.*}} draws(%{{.*}} : tensor<?x4xi32>) : tensor<?x7xf32> -> tensor<?x2xf32>
  %z = seq.best %x draws(%d : tensor<?x4xi32>) : tensor<?x7xf32> -> tensor<?x2xf32>
  return %y, %z : tensor<?x2xf32>, tensor<?x2xf32>
}
