// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @take
func.func @take(%x: tensor<?x2x7xf32>, %numbers: tensor<?x2x3xi32>) -> tensor<?x2x3xf32> {
  // CHECK: seq.take %{{.*}}, %{{.*}} : (tensor<?x2x7xf32>, tensor<?x2x3xi32>) -> tensor<?x2x3xf32>
  %y = seq.take %x, %numbers
      : (tensor<?x2x7xf32>, tensor<?x2x3xi32>) -> tensor<?x2x3xf32>
  return %y : tensor<?x2x3xf32>
}
