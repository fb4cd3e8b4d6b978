// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @clamp
func.func @clamp(%x: tensor<?x6xf32>) {
  // CHECK: seq.clamp %{{.*}} {lower = 1.000000e-03 : f64, upper = 1.000000e-01 : f64} : tensor<?x6xf32>
  %y = seq.clamp %x {lower = 1.0e-3 : f64, upper = 0.1 : f64} : tensor<?x6xf32>
  // An infinite bound binds nothing and is allowed.
  // CHECK: seq.clamp %{{.*}} {upper = 0x7FF0000000000000 : f64} : tensor<?x6xf32>
  %z = seq.clamp %x {upper = 0x7FF0000000000000 : f64} : tensor<?x6xf32>
  return
}
