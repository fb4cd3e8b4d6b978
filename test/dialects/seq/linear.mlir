// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<?x6xf32>, %w: tensor<10x6xbf16>, %b: tensor<10xf32>) {
  // CHECK: seq.linear %{{.*}}, %{{.*}} bias(%{{.*}}) : (tensor<?x6xf32>, tensor<10x6xbf16>, tensor<10xf32>) -> tensor<?x10xf32>
  %y = seq.linear %x, %w bias(%b)
      : (tensor<?x6xf32>, tensor<10x6xbf16>, tensor<10xf32>) -> tensor<?x10xf32>
  // CHECK: seq.linear %{{.*}}, %{{.*}} : (tensor<?x6xf32>, tensor<10x6xbf16>) -> tensor<?x10xf32>
  %z = seq.linear %x, %w
      : (tensor<?x6xf32>, tensor<10x6xbf16>) -> tensor<?x10xf32>
  return
}

// A matrix for each of two blocks of channels.
// CHECK-LABEL: func.func @blocks
func.func @blocks(%x: tensor<?x2x3xf32>, %w: tensor<2x5x3xbf16>, %b: tensor<2x5xf32>) {
  // CHECK: seq.linear %{{.*}}, %{{.*}} bias(%{{.*}}) : (tensor<?x2x3xf32>, tensor<2x5x3xbf16>, tensor<2x5xf32>) -> tensor<?x2x5xf32>
  %y = seq.linear %x, %w bias(%b)
      : (tensor<?x2x3xf32>, tensor<2x5x3xbf16>, tensor<2x5xf32>) -> tensor<?x2x5xf32>
  return
}
