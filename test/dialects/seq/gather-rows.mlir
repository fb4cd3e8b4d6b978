// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @gather_rows
func.func @gather_rows(%table: tensor<22x6xbf16>, %rows: tensor<?x3xi32>) -> tensor<?x3x2x6xf32> {
  // CHECK: seq.gather_rows %{{.*}}, %{{.*}} : (tensor<22x6xbf16>, tensor<?x3xi32>) -> tensor<?x3x2x6xf32>
  %y = seq.gather_rows %table, %rows
      : (tensor<22x6xbf16>, tensor<?x3xi32>) -> tensor<?x3x2x6xf32>
  return %y : tensor<?x3x2x6xf32>
}
