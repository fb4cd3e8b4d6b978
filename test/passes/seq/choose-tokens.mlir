// RUN: effc-opt %s --seq-choose-tokens --split-input-file --verify-diagnostics | FileCheck %s

// The head once more, with what bounds its logits, for a decode entry; the
// state stays the last result. The row that both heads read is shared. How
// tokens are drawn is one more argument.

// CHECK-LABEL: func.func @decode_2
// CHECK-SAME: (%{{[^:]*}}: tensor<?x6xf32>, %{{[^:]*}}: tensor<11x6xbf16>, %{{[^:]*}}: tensor<3x5xf32>, %[[DRAWS:.*]]: tensor<?x4xi32>)
// CHECK-SAME: -> (tensor<?x11xf32>, tensor<?x2xf32>, tensor<3x5xf32>)
// CHECK: %[[X:.*]] = seq.neg
// CHECK: %[[Y:.*]] = seq.lm_head %[[X]], %[[W:.*]] :
// CHECK: %[[L:.*]] = seq.clamp %[[Y]] {upper = 4.000000e+00 : f64}
// CHECK: %[[AGAIN:.*]] = seq.lm_head %[[X]], %[[W]] :
// CHECK: %[[BOUNDED:.*]] = seq.clamp %[[AGAIN]] {upper = 4.000000e+00 : f64}
// CHECK: %[[BEST:.*]] = seq.best %[[BOUNDED]] draws(%[[DRAWS]] : tensor<?x4xi32>) : tensor<?x11xf32> -> tensor<?x2xf32>
// CHECK: return %[[L]], %[[BEST]], %{{.*}}
func.func @decode_2(%e: tensor<?x6xf32>, %w: tensor<11x6xbf16>, %s: tensor<3x5xf32>) -> (tensor<?x11xf32>, tensor<3x5xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %x = seq.neg %e : tensor<?x6xf32>
  %y = seq.lm_head %x, %w : (tensor<?x6xf32>, tensor<11x6xbf16>) -> tensor<?x11xf32>
  %l = seq.clamp %y {upper = 4.0 : f64} : tensor<?x11xf32>
  return %l, %s : tensor<?x11xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: func.func @prefill_16
// CHECK-SAME: -> tensor<?x11xf32>
// CHECK-NOT: seq.best
func.func @prefill_16(%x: tensor<?x6xf32>, %w: tensor<11x6xbf16>) -> tensor<?x11xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %y = seq.lm_head %x, %w : (tensor<?x6xf32>, tensor<11x6xbf16>) -> tensor<?x11xf32>
  return %y : tensor<?x11xf32>
}

// -----

// All that lies between the product and the logits, whichever way leads there.

// CHECK-LABEL: func.func @gated_by_themselves
// CHECK: %[[Y:.*]] = seq.lm_head
// CHECK: %[[G:.*]] = seq.sigmoid %[[Y]]
// CHECK: %[[L:.*]] = seq.mul %[[Y]], %[[G]]
// CHECK: %[[YY:.*]] = seq.lm_head
// CHECK: %[[GG:.*]] = seq.sigmoid %[[YY]]
// CHECK: %[[LL:.*]] = seq.mul %[[YY]], %[[GG]]
// CHECK: %[[BEST:.*]] = seq.best %[[LL]] draws(
// CHECK: return %[[L]], %[[BEST]]
func.func @gated_by_themselves(%x: tensor<?x6xf32>, %w: tensor<11x6xf32>) -> tensor<?x11xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %y = seq.lm_head %x, %w : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x11xf32>
  %g = seq.sigmoid %y : tensor<?x11xf32>
  %l = seq.mul %y, %g : tensor<?x11xf32>
  return %l : tensor<?x11xf32>
}

// CHECK-LABEL: func.func @two_heads
// CHECK-NOT: seq.best
func.func @two_heads(%x: tensor<?x6xf32>, %w: tensor<11x6xf32>, %v: tensor<11x6xf32>) -> tensor<?x11xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %y = seq.lm_head %x, %w : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x11xf32>
  %z = seq.lm_head %x, %v : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x11xf32>
  // expected-remark @+1 {{decode gives logits alone: they are no product of rows with a matrix, followed by elementwise ops}}
  %l = seq.add %y, %z : tensor<?x11xf32>
  return %l : tensor<?x11xf32>
}

// -----

// CHECK-LABEL: func.func @rows_of_a_norm
// CHECK-NOT: seq.best
func.func @rows_of_a_norm(%x: tensor<?x6xf32>, %w: tensor<6xf32>) -> tensor<?x6xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  // expected-remark @+1 {{decode gives logits alone: they are no product of rows with a matrix, followed by elementwise ops}}
  %y = seq.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  return %y : tensor<?x6xf32>
}

// -----

// A row of 11 logits, of which the last stands for no token.
module attributes {seq.model = #seq.model<family = "toy", vocabulary = 10, width = 6, max_context = 0>} {
// CHECK-LABEL: func.func @more_logits_than_tokens
// CHECK-NOT: seq.best
func.func @more_logits_than_tokens(%x: tensor<?x6xf32>, %w: tensor<11x6xf32>) -> tensor<?x11xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  // expected-remark @+1 {{decode gives logits alone: there are 11 for each row, but as many as tokens, and at most 16777216, are expected}}
  %y = seq.lm_head %x, %w : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x11xf32>
  return %y : tensor<?x11xf32>
}
}
