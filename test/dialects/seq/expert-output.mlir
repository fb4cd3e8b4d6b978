// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @expert_output
func.func @expert_output(%h: tensor<?x3x2xf32>, %rows: tensor<?x3xi32>, %table: tensor<55x2xbf16>) -> tensor<?x5xf32> {
  // CHECK: seq.expert_output %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x3x2xf32>, tensor<?x3xi32>, tensor<55x2xbf16>) -> tensor<?x5xf32>
  %y = seq.expert_output %h, %rows, %table
      : (tensor<?x3x2xf32>, tensor<?x3xi32>, tensor<55x2xbf16>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
