// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @sum_rows
func.func @sum_rows(%w: tensor<?x3xf32>, %rows: tensor<?x3xi32>, %table: tensor<22x6xbf16>) -> tensor<?x6xf32> {
  // CHECK: seq.sum_rows %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x3xf32>, tensor<?x3xi32>, tensor<22x6xbf16>) -> tensor<?x6xf32>
  %y = seq.sum_rows %w, %rows, %table
      : (tensor<?x3xf32>, tensor<?x3xi32>, tensor<22x6xbf16>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}
