// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @top_k1_x_of_one_axis(%x: tensor<7xf32>) {
  // expected-error @+1 {{expects 'x' of shape T,...,N, but got 7}}
  %v, %n = seq.top_k %x : tensor<7xf32> -> tensor<3xf32>, tensor<3xi32>
  return
}

// -----

func.func @top_k1_more_than_there_are(%x: tensor<?x7xf32>) {
  // expected-error @+1 {{expects 'values' of shape ?, K with a K of at most 7, but got ?, 8}}
  %v, %n = seq.top_k %x : tensor<?x7xf32> -> tensor<?x8xf32>, tensor<?x8xi32>
  return
}

// -----

func.func @top_k1_other_heads(%x: tensor<?x2x7xf32>) {
  // expected-error @+1 {{expects 'values' of shape ?, 2, K with a K of at most 7, but got ?, 5, 3}}
  %v, %n = seq.top_k %x : tensor<?x2x7xf32> -> tensor<?x5x3xf32>, tensor<?x5x3xi32>
  return
}

// -----

func.func @top_k2_fewer_numbers(%x: tensor<?x7xf32>) {
  // expected-error @+1 {{expects 'numbers' of the shape of 'values', ?, 3, but got ?, 2}}
  %v, %n = seq.top_k %x : tensor<?x7xf32> -> tensor<?x3xf32>, tensor<?x2xi32>
  return
}
