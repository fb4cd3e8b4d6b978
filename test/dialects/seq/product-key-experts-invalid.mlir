// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @pke1_x_of_three(%x: tensor<?x5x2xf32>, %s: tensor<?x2x3x7xf32>, %d: tensor<49x5xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,D, but got ?, 5, 2}}
  // expected-note @+1 {{'x' has two dimensions for D: a 'seq.reshape' makes them one}}
  %y = seq.product_key_experts %x, %s parameters(%d, %d) {top_k = 4 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5x2xf32>, tensor<?x2x3x7xf32>), (tensor<49x5xf32>, tensor<49x5xf32>)
  return
}

// -----

func.func @pke2_scores_of_one_axis(%x: tensor<?x5xf32>, %s: tensor<?x3x7xf32>, %d: tensor<49x5xf32>) {
  // expected-error @+1 {{expects 'scores' of shape T,2,H,S = ?, 2, H, S, but got ?, 3, 7}}
  %y = seq.product_key_experts %x, %s parameters(%d, %d) {top_k = 4 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x3x7xf32>), (tensor<49x5xf32>, tensor<49x5xf32>)
  return
}

// -----

func.func @pke3_other_channels(%x: tensor<?x5xf32>, %s: tensor<?x2x3x7xf32>, %d: tensor<49x6xf32>) {
  // expected-error @+1 {{expects 'down' of shape N,D = N, 5, but got 49, 6}}
  %y = seq.product_key_experts %x, %s parameters(%d, %d) {top_k = 4 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x2x3x7xf32>), (tensor<49x6xf32>, tensor<49x6xf32>)
  return
}

// -----

func.func @pke4_none(%x: tensor<?x5xf32>, %s: tensor<?x2x3x7xf32>, %d: tensor<49x5xf32>) {
  // expected-error @+1 {{expects 'top_k' from 1 to S * S = 49, but got 0}}
  %y = seq.product_key_experts %x, %s parameters(%d, %d) {top_k = 0 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x2x3x7xf32>), (tensor<49x5xf32>, tensor<49x5xf32>)
  return
}

// -----

func.func @pke4_too_many_keys(%x: tensor<?x5xf32>, %s: tensor<?x2x3x46341xf32>, %d: tensor<49x5xf32>) {
  // expected-error @+1 {{expects an S of at most 46340, so that numbers of rows are i32, but got 46341}}
  %y = seq.product_key_experts %x, %s parameters(%d, %d) {top_k = 4 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x2x3x46341xf32>), (tensor<49x5xf32>, tensor<49x5xf32>)
  return
}
