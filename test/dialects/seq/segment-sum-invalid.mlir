// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @segment_sum1_dynamic(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'x' of shape T,... with a static T, but got 'tensor<?x6xf32>'}}
  %y = seq.segment_sum %x : tensor<?x6xf32> -> tensor<6x7x7xf32>
  return
}

// -----

func.func @segment_sum1_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{expects 'x' of shape T,... with a static T, but got 'tensor<f32>'}}
  %y = seq.segment_sum %x : tensor<f32> -> tensor<6x7x7xf32>
  return
}

// -----

func.func @segment_sum2_tokens_first(%x: tensor<7x6xf32>) {
  // expected-error @+1 {{expects 'y' of shape ...,T,T = 6, 7, 7, but got 7, 7, 6}}
  %y = seq.segment_sum %x : tensor<7x6xf32> -> tensor<7x7x6xf32>
  return
}

// -----

func.func @segment_sum3_both(%x: tensor<7x6xf32>) {
  // expected-error @+1 {{expects 'strict' or 'exclusive', but got both}}
  %y = seq.segment_sum %x strict exclusive : tensor<7x6xf32> -> tensor<6x7x7xf32>
  return
}
