// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @choose_rows1_without_axes(%s: tensor<?x3x7xf32>) {
  // expected-error @+2 {{expects 'scores' of shape T,A,H,S, but got ?, 3, 7}}
  // expected-note @+1 {{'scores' has A and H as one dimension: a 'seq.reshape' splits it}}
  %w, %r = seq.choose_rows %s {top_k = 4 : i64} : tensor<?x3x7xf32> -> tensor<?x12xf32>, tensor<?x12xi32>
  return
}

// -----

func.func @choose_rows1_three_axes(%s: tensor<?x3x2x7xf32>) {
  // expected-error @+1 {{expects 'scores' with an A of 1 or 2, but got 3}}
  %w, %r = seq.choose_rows %s {top_k = 4 : i64} : tensor<?x3x2x7xf32> -> tensor<?x8xf32>, tensor<?x8xi32>
  return
}

// -----

func.func @choose_rows2_more_than_pairs(%s: tensor<?x2x3x7xf32>) {
  // expected-error @+1 {{expects 'top_k' from 1 to N = 49, but got 50}}
  %w, %r = seq.choose_rows %s {top_k = 50 : i64} : tensor<?x2x3x7xf32> -> tensor<?x150xf32>, tensor<?x150xi32>
  return
}

// -----

func.func @choose_rows2_none(%s: tensor<?x1x3x7xf32>) {
  // expected-error @+1 {{expects 'top_k' from 1 to N = 7, but got 0}}
  %w, %r = seq.choose_rows %s {top_k = 0 : i64} : tensor<?x1x3x7xf32> -> tensor<?x3xf32>, tensor<?x3xi32>
  return
}

// -----

func.func @choose_rows2_numbers_past_i32(%s: tensor<?x2x1x46341xf32>) {
  // expected-error @+1 {{expects rows whose numbers are i32, but got 46341 keys on each of 2 axes}}
  %w, %r = seq.choose_rows %s {top_k = 4 : i64} : tensor<?x2x1x46341xf32> -> tensor<?x4xf32>, tensor<?x4xi32>
  return
}

// -----

func.func @choose_rows3_weights_of_a_head(%s: tensor<?x2x3x7xf32>) {
  // expected-error @+1 {{expects 'weights' of shape T,J = ?, 12, but got ?, 4}}
  %w, %r = seq.choose_rows %s {top_k = 4 : i64} : tensor<?x2x3x7xf32> -> tensor<?x4xf32>, tensor<?x12xi32>
  return
}

// -----

func.func @choose_rows3_rows_of_a_head(%s: tensor<?x2x3x7xf32>) {
  // expected-error @+1 {{expects 'rows' of shape T,J = ?, 12, but got ?, 4}}
  %w, %r = seq.choose_rows %s {top_k = 4 : i64} : tensor<?x2x3x7xf32> -> tensor<?x12xf32>, tensor<?x4xi32>
  return
}

// -----

func.func @choose_rows4_order_of_two_axes(%s: tensor<?x2x3x7xf32>) {
  // expected-error @+1 {{expects 'scores' with an A of 1 beside 'order', but got 2}}
  %w, %r = seq.choose_rows %s order(%s : tensor<?x2x3x7xf32>) {top_k = 4 : i64} : tensor<?x2x3x7xf32> -> tensor<?x12xf32>, tensor<?x12xi32>
  return
}

// -----

func.func @choose_rows4_order_of_other_keys(%s: tensor<?x1x3x7xf32>, %o: tensor<?x1x3x5xf32>) {
  // expected-error @+1 {{expects 'order' of the type of 'scores', 'tensor<?x1x3x7xf32>', but got 'tensor<?x1x3x5xf32>'}}
  %w, %r = seq.choose_rows %s order(%o : tensor<?x1x3x5xf32>) {top_k = 4 : i64} : tensor<?x1x3x7xf32> -> tensor<?x12xf32>, tensor<?x12xi32>
  return
}
