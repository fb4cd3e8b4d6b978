// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @embedding
func.func @embedding(%tokens: tensor<?xi32>, %table: tensor<11x6xbf16>)
    -> tensor<?x6xf32> {
  // CHECK: seq.embedding %{{.*}}, %{{.*}} : (tensor<?xi32>, tensor<11x6xbf16>) -> tensor<?x6xf32>
  %x = seq.embedding %tokens, %table
      : (tensor<?xi32>, tensor<11x6xbf16>) -> tensor<?x6xf32>
  return %x : tensor<?x6xf32>
}
