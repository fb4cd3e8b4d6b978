// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<?x6xf32>, %w: tensor<6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.rms_norm %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : tensor<?x6xf32>, tensor<6xf32>
  %y = seq.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  return %y : tensor<?x6xf32>
}
