// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @lm_head1_x_of_one(%x: tensor<6xf32>, %w: tensor<11x6xf32>) {
  // expected-error @+2 {{expects 'x' of shape R,D, but got 6}}
  // expected-note @+1 {{'x' lacks the leading R of tokens}}
  %y = seq.lm_head %x, %w : (tensor<6xf32>, tensor<11x6xf32>) -> tensor<11xf32>
  return
}

// -----

func.func @lm_head2_other_width(%x: tensor<?x6xf32>, %w: tensor<11x7xf32>) {
  // expected-error @+1 {{expects 'weight' of shape N,D = N, 6, but got 11, 7}}
  %y = seq.lm_head %x, %w : (tensor<?x6xf32>, tensor<11x7xf32>) -> tensor<?x11xf32>
  return
}

// -----

func.func @lm_head3_logits_of_width(%x: tensor<?x6xf32>, %w: tensor<11x6xf32>) {
  // expected-error @+2 {{expects 'logits' of shape R,N = ?, 11, but got ?, 6}}
  // expected-note @+1 {{'logits' has the extent of D where that of N belongs}}
  %y = seq.lm_head %x, %w : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x6xf32>
  return
}
