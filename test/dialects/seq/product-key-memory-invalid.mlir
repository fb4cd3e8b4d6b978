// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @pkm1_head_before_half(%s: tensor<?x3x2x7xf32>, %v: tensor<49x5xf32>) {
  // expected-error @+2 {{expects 'scores' of shape T,2,H,S = T, 2, H, S, but got ?, 3, 2, 7}}
  // expected-note @+1 {{'scores' looks transposed: its 2 and H are exchanged}}
  %y = seq.product_key_memory %s parameters(%v) {top_k = 4 : i64} : tensor<?x3x2x7xf32>, (tensor<49x5xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @pkm2_fewer_rows_than_pairs(%s: tensor<?x2x3x7xf32>, %v: tensor<48x5xf32>) {
  // expected-error @+2 {{expects 'values' with at least S * S = 49 rows, but got 48}}
  // expected-note @+1 {{only those up to the next lower square, 6 keys on each axis, can be reached}}
  %y = seq.product_key_memory %s parameters(%v) {top_k = 4 : i64} : tensor<?x2x3x7xf32>, (tensor<48x5xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @pkm3_more_than_pairs(%s: tensor<?x2x3x7xf32>, %v: tensor<49x5xf32>) {
  // expected-error @+1 {{expects 'top_k' from 1 to S * S = 49, but got 50}}
  %y = seq.product_key_memory %s parameters(%v) {top_k = 50 : i64} : tensor<?x2x3x7xf32>, (tensor<49x5xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @pkm4_other_channels(%s: tensor<?x2x3x7xf32>, %v: tensor<49x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,D = ?, 5, but got ?, 6}}
  %y = seq.product_key_memory %s parameters(%v) {top_k = 4 : i64} : tensor<?x2x3x7xf32>, (tensor<49x5xf32>) -> tensor<?x6xf32>
  return
}
