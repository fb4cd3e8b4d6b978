// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @rotary
func.func @rotary(%x: tensor<?x6x8xf32>, %p: tensor<?xi32>, %f: tensor<3xf32>, %rows: tensor<40x3xf32>) {
  // CHECK: seq.rotary half %{{.*}} at(%{{.*}}), %{{.*}} : tensor<?x6x8xf32>, tensor<?xi32>, tensor<3xf32>
  %y = seq.rotary half %x at(%p), %f {amplitude = 1.0 : f64}
      : tensor<?x6x8xf32>, tensor<?xi32>, tensor<3xf32>
  // CHECK: seq.rotary interleaved %{{.*}} at(%{{.*}}), %{{.*}} {amplitude = 1.250000e+00 : f64} : tensor<?x6x8xf32>
  %z = seq.rotary interleaved %x at(%p), %f {amplitude = 1.25 : f64} : tensor<?x6x8xf32>, tensor<?xi32>, tensor<3xf32>
  // CHECK: seq.rotary half %{{.*}} at(%{{.*}}), %{{.*}} {last = 14 : i64} : tensor<?x6x8xf32>
  %w = seq.rotary half %x at(%p), %f {last = 14 : i64} : tensor<?x6x8xf32>, tensor<?xi32>, tensor<3xf32>
  // CHECK: seq.rotary half %{{.*}} at(%{{.*}}), %{{.*}} : tensor<?x6x8xf32>, tensor<?xi32>, tensor<40x3xf32>
  %v = seq.rotary half %x at(%p), %rows : tensor<?x6x8xf32>, tensor<?xi32>, tensor<40x3xf32>
  return
}

// CHECK-LABEL: func.func @cosine_sine
func.func @cosine_sine(%x: tensor<?x3x4xf32>, %p: tensor<?xi32>, %f: tensor<3x4xf32>) {
  // CHECK: seq.cosine_sine %{{.*}} at(%{{.*}}), %{{.*}} : (tensor<?x3x4xf32>, tensor<?xi32>, tensor<3x4xf32>) -> tensor<?x3x8xf32>
  %y = seq.cosine_sine %x at(%p), %f : (tensor<?x3x4xf32>, tensor<?xi32>,
      tensor<3x4xf32>) -> tensor<?x3x8xf32>
  return
}
