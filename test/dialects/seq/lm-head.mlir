// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @lm_head
func.func @lm_head(%x: tensor<?x6xf32>, %w: tensor<11x6xbf16>) -> tensor<?x11xf32> {
  // CHECK: seq.lm_head %{{.*}}, %{{.*}} : (tensor<?x6xf32>, tensor<11x6xbf16>) -> tensor<?x11xf32>
  %logits = seq.lm_head %x, %w
      : (tensor<?x6xf32>, tensor<11x6xbf16>) -> tensor<?x11xf32>
  return %logits : tensor<?x11xf32>
}
