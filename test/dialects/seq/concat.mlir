// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @concat
func.func @concat(%a: tensor<12x6xf32>, %b: tensor<3x6xf32>, %c: tensor<?x6xf32>) {
  // CHECK: seq.concat %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<12x6xf32>, tensor<3x6xf32>) -> tensor<15x6xf32>
  %y = seq.concat %a, %b {axis = 0 : i64}
      : (tensor<12x6xf32>, tensor<3x6xf32>) -> tensor<15x6xf32>
  // CHECK: seq.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<12x6xf32>, tensor<?x6xf32>, tensor<3x6xf32>) -> tensor<?x6xf32>
  %z = seq.concat %a, %c, %b {axis = 0 : i64}
      : (tensor<12x6xf32>, tensor<?x6xf32>, tensor<3x6xf32>) -> tensor<?x6xf32>
  // CHECK: seq.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x12xf32>
  %v = seq.concat %c, %c {axis = 1 : i64}
      : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x12xf32>
  return
}
