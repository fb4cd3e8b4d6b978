// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @key_scores1_one_half(%q: tensor<?x30xf32>, %k: tensor<21x10xf32>) {
  // expected-error @+1 {{expects 'scores' of shape T,2,H,S = T, 2, H, S, but got ?, 1, 3, 7}}
  %s = seq.key_scores %q, %k {layout = #seq.key_layout<half_head>} : (tensor<?x30xf32>, tensor<21x10xf32>) -> tensor<?x1x3x7xf32>
  return
}

// -----

func.func @key_scores2_partial_query(%q: tensor<?x32xf32>, %k: tensor<21x10xf32>) {
  // expected-error @+1 {{expects 2 H = 6 to divide the Q of 'query', but got 32}}
  %s = seq.key_scores %q, %k {layout = #seq.key_layout<half_head>} : (tensor<?x32xf32>, tensor<21x10xf32>) -> tensor<?x2x3x7xf32>
  return
}

// -----

func.func @key_scores3_fewer_keys(%q: tensor<?x30xf32>, %k: tensor<20x10xf32>) {
  // expected-error @+1 {{expects 'keys' of shape H S,2 K = 21, 10, but got 20, 10}}
  %s = seq.key_scores %q, %k {layout = #seq.key_layout<half_head>} : (tensor<?x30xf32>, tensor<20x10xf32>) -> tensor<?x2x3x7xf32>
  return
}

// -----

func.func @key_scores3_keys_of_the_other_layout(%q: tensor<?x30xf32>, %k: tensor<21x10xf32>) {
  // expected-error @+2 {{expects 'keys' of shape 2 H S,K = 42, 5, but got 21, 10}}
  // expected-note @+1 {{the shape is that of the other layout, 'half_head'}}
  %s = seq.key_scores %q, %k {layout = #seq.key_layout<head_half>} : (tensor<?x30xf32>, tensor<21x10xf32>) -> tensor<?x2x3x7xf32>
  return
}
