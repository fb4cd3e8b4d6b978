// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @gated_rms_norm
func.func @gated_rms_norm(%x: tensor<?x10xf32>, %z: tensor<?x10xf32>, %w: tensor<10xf32>)
    -> tensor<?x10xf32> {
  // CHECK: seq.gated_rms_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64, groups = 2 : i64} : tensor<?x10xf32>, tensor<10xf32>
  %y = seq.gated_rms_norm %x, %z, %w {eps = 1.0e-5 : f64, groups = 2 : i64}
      : tensor<?x10xf32>, tensor<10xf32>
  return %y : tensor<?x10xf32>
}
