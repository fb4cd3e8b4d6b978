// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @constant
func.func @constant() -> tensor<6xf32> {
  // CHECK: seq.constant 5.000000e-01 : tensor<6xf32>
  %half = seq.constant 5.000000e-01 : tensor<6xf32>
  return %half : tensor<6xf32>
}
