// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @causal_mix2_positions_t(%a0: tensor<?x6xf32>, %a1: tensor<7xi32>, %a2: tensor<12x12xf32>, %a3: tensor<12xf32>, %a4: tensor<32x6xf32>) {
  // expected-error @+1 {{expects 'positions' of shape T = ?, but got 7}}
  %r:2 = "seq.causal_mix"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x6xf32>, tensor<7xi32>, tensor<12x12xf32>, tensor<12xf32>, tensor<32x6xf32>) -> (tensor<?x6xf32>, tensor<32x6xf32>)
  return
}

// -----

func.func @causal_mix3_weight_not_square(%a0: tensor<?x6xf32>, %a1: tensor<?xi32>, %a2: tensor<12x13xf32>, %a3: tensor<12xf32>, %a4: tensor<32x6xf32>) {
  // expected-error @+1 {{expects 'weight' of shape P,P, but got 12, 13}}
  %r:2 = "seq.causal_mix"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x6xf32>, tensor<?xi32>, tensor<12x13xf32>, tensor<12xf32>, tensor<32x6xf32>) -> (tensor<?x6xf32>, tensor<32x6xf32>)
  return
}

// -----

func.func @causal_mix4_bias_p(%a0: tensor<?x6xf32>, %a1: tensor<?xi32>, %a2: tensor<12x12xf32>, %a3: tensor<13xf32>, %a4: tensor<32x6xf32>) {
  // expected-error @+1 {{expects 'bias' of shape P = 12, but got 13}}
  %r:2 = "seq.causal_mix"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x6xf32>, tensor<?xi32>, tensor<12x12xf32>, tensor<13xf32>, tensor<32x6xf32>) -> (tensor<?x6xf32>, tensor<32x6xf32>)
  return
}

// -----

func.func @causal_mix5_inputs_d(%a0: tensor<?x6xf32>, %a1: tensor<?xi32>, %a2: tensor<12x12xf32>, %a3: tensor<12xf32>, %a4: tensor<32x5xf32>) {
  // expected-error @+1 {{expects 'inputs' of shape W,D = W, 6, but got 32, 5}}
  %r:2 = "seq.causal_mix"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x6xf32>, tensor<?xi32>, tensor<12x12xf32>, tensor<12xf32>, tensor<32x5xf32>) -> (tensor<?x6xf32>, tensor<32x5xf32>)
  return
}

// -----

func.func @causal_mix1_x_of_three(%x: tensor<7x2x3xf32>, %p: tensor<7xi32>, %w: tensor<12x12xf32>, %i: tensor<32x6xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,D, but got 7, 2, 3}}
  // expected-note @+1 {{'x' has two dimensions for D: a 'seq.reshape' makes them one}}
  %r:2 = "seq.causal_mix"(%x, %p, %w, %i)
      : (tensor<7x2x3xf32>, tensor<7xi32>, tensor<12x12xf32>, tensor<32x6xf32>) -> (tensor<7x2x3xf32>, tensor<32x6xf32>)
  return
}

// -----

func.func @causal_mix4_bias_of_wide_weight(%x: tensor<7x6xf32>, %p: tensor<7xi32>, %w: tensor<12x12x3xf32>, %b: tensor<12xf32>, %i: tensor<32x6xf32>) {
  // expected-error @+1 {{expects no 'bias' beside a weight of P,P,M; the 'seq.channel_convolution' of its sums adds it}}
  %r:2 = "seq.causal_mix"(%x, %p, %w, %b, %i)
      : (tensor<7x6xf32>, tensor<7xi32>, tensor<12x12x3xf32>, tensor<12xf32>, tensor<32x6xf32>) -> (tensor<7x3x6xf32>, tensor<32x6xf32>)
  return
}

// -----

func.func @causal_mix6_one_sum_of_wide_weight(%x: tensor<7x6xf32>, %p: tensor<7xi32>, %w: tensor<12x12x3xf32>, %i: tensor<32x6xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,M,D = 7, 3, 6, but got 7, 6}}
  %r:2 = "seq.causal_mix"(%x, %p, %w, %i)
      : (tensor<7x6xf32>, tensor<7xi32>, tensor<12x12x3xf32>, tensor<32x6xf32>) -> (tensor<7x6xf32>, tensor<32x6xf32>)
  return
}

// -----

func.func @causal_mix6_result_of_other_type(%x: tensor<7x6xf32>, %p: tensor<7xi32>, %w: tensor<12x12xf32>, %i: tensor<32x6xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,D = 7, 6, but got 7, 5}}
  %r:2 = "seq.causal_mix"(%x, %p, %w, %i)
      : (tensor<7x6xf32>, tensor<7xi32>, tensor<12x12xf32>, tensor<32x6xf32>) -> (tensor<7x5xf32>, tensor<32x6xf32>)
  return
}
