// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @solve_unit_lower
func.func @solve_unit_lower(%l: tensor<6x7x7xf32>, %b: tensor<6x7x5xf32>) -> tensor<6x7x5xf32> {
  // CHECK: seq.solve_unit_lower %{{.*}}, %{{.*}} : tensor<6x7x7xf32>, tensor<6x7x5xf32>
  %z = seq.solve_unit_lower %l, %b : tensor<6x7x7xf32>, tensor<6x7x5xf32>
  return %z : tensor<6x7x5xf32>
}
