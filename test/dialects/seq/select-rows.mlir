// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @select_rows
func.func @select_rows(%x: tensor<?x6xf32>, %rows: tensor<2xi32>)
    -> tensor<2x6xf32> {
  // CHECK: seq.select_rows %{{.*}}, %{{.*}} : (tensor<?x6xf32>, tensor<2xi32>) -> tensor<2x6xf32>
  %last = seq.select_rows %x, %rows
      : (tensor<?x6xf32>, tensor<2xi32>) -> tensor<2x6xf32>
  return %last : tensor<2x6xf32>
}
