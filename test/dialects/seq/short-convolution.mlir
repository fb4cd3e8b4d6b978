// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @short_convolution
func.func @short_convolution(%x: tensor<?x10xf32>, %w: tensor<4x10xf32>,
                             %b: tensor<10xf32>, %tail: tensor<3x10xf32>) {
  // CHECK: seq.short_convolution %{{.*}} parameters(%{{.*}}, %{{.*}}) state(%{{.*}}) {activation = #seq.activation<silu>} : tensor<?x10xf32>, (tensor<4x10xf32>, tensor<10xf32>), tensor<3x10xf32>
  %y, %next = seq.short_convolution %x parameters(%w, %b) state(%tail)
      {activation = #seq.activation<silu>}
      : tensor<?x10xf32>, (tensor<4x10xf32>, tensor<10xf32>), tensor<3x10xf32>
  // CHECK: seq.short_convolution %{{.*}} parameters(%{{.*}}) state(%{{.*}}) : tensor<?x10xf32>, (tensor<4x10xf32>), tensor<3x10xf32>
  %z, %next2 = seq.short_convolution %x parameters(%w) state(%tail)
      : tensor<?x10xf32>, (tensor<4x10xf32>), tensor<3x10xf32>
  return
}

// Channels 6 to 9 of a tail of 10.
// CHECK-LABEL: func.func @some_channels
func.func @some_channels(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>, %tail: tensor<2x10xf32>) {
  // CHECK: seq.short_convolution %{{.*}} parameters(%{{.*}}) state(%{{.*}}) {first_channel = 6 : i64} : tensor<?x4xf32>, (tensor<3x4xf32>), tensor<2x10xf32>
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail) {first_channel = 6 : i64}
      : tensor<?x4xf32>, (tensor<3x4xf32>), tensor<2x10xf32>
  return
}
