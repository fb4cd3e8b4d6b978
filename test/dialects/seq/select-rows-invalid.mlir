// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @select_rows1_scalar(%x: tensor<f32>, %rows: tensor<2xi32>) {
  // expected-error @+1 {{expects 'x' of shape T,..., but got a scalar}}
  %y = seq.select_rows %x, %rows
      : (tensor<f32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_rows2_rows_of_x(%x: tensor<5x6xf32>, %rows: tensor<2xi32>) {
  // expected-error @+1 {{expects 'y' of shape R,... = 2, 6, but got 5, 6}}
  %y = seq.select_rows %x, %rows
      : (tensor<5x6xf32>, tensor<2xi32>) -> tensor<5x6xf32>
  return
}
