// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @best1_rows_of_heads(%x: tensor<?x3x7xf32>) {
  // expected-error @+2 {{expects 'x' of shape R,N, but got ?, 3, 7}}
  // expected-note @+1 {{'x' has two dimensions for N: a 'seq.reshape' makes them one}}
  %y = seq.best %x : tensor<?x3x7xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @best1_more_than_an_f32_counts(%x: tensor<?x16777217xf32>) {
  // expected-error @+1 {{expects an N of at most 16777216, but got 16777217}}
  %y = seq.best %x : tensor<?x16777217xf32> -> tensor<?x2xf32>
  return
}

// -----

func.func @best2_one_number(%x: tensor<?x7xf32>) {
  // expected-error @+1 {{expects 'y' of shape R,2 = ?, 2, but got ?, 1}}
  %y = seq.best %x : tensor<?x7xf32> -> tensor<?x1xf32>
  return
}

// -----

func.func @best3_words_of_a_draw(%x: tensor<?x7xf32>, %d: tensor<?x3xi32>) {
  // expected-error @+1 {{expects 'draws' of shape R,4 = ?, 4, but got ?, 3}}
  %y = seq.best %x draws(%d : tensor<?x3xi32>) : tensor<?x7xf32> -> tensor<?x2xf32>
  return
}
