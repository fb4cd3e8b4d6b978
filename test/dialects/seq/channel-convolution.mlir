// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @channel_convolution
func.func @channel_convolution(%x: tensor<?x6xf32>, %w: tensor<?x3xf32>, %b: tensor<?xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.channel_convolution %{{.*}} weight(%{{.*}}) bias(%{{.*}}) {before = 1 : i64}
  %y = seq.channel_convolution %x weight(%w) bias(%b) {before = 1 : i64}
      : (tensor<?x6xf32>, tensor<?x3xf32>, tensor<?xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// Rows that have been multiplied already, as a causal mix of wide weights leaves them.
// CHECK-LABEL: func.func @sums
func.func @sums(%x: tensor<?x4x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.channel_convolution %{{.*}} {before = 3 : i64} : (tensor<?x4x6xf32>) -> tensor<?x6xf32>
  %y = seq.channel_convolution %x {before = 3 : i64} : (tensor<?x4x6xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}
