// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @solve_unit_lower1_not_square(%l: tensor<6x7x5xf32>, %b: tensor<6x7x5xf32>) {
  // expected-error @+1 {{expects 'l' of shape ...,T,T, but got 6, 7, 5}}
  %x = seq.solve_unit_lower %l, %b : tensor<6x7x5xf32>, tensor<6x7x5xf32>
  return
}

// -----

func.func @solve_unit_lower2_other_rows(%l: tensor<6x7x7xf32>, %b: tensor<6x5x7xf32>) {
  // expected-error @+1 {{expects 'b' of shape 6, 7, N, but got 6, 5, 7}}
  %x = seq.solve_unit_lower %l, %b : tensor<6x7x7xf32>, tensor<6x5x7xf32>
  return
}

// -----

func.func @solve_unit_lower3_other_type(%l: tensor<6x7x7xf32>, %b: tensor<6x7x5xf32>) {
  // expected-error @+1 {{failed to verify that all of {b, x} have same type}}
  %x = "seq.solve_unit_lower"(%l, %b) : (tensor<6x7x7xf32>, tensor<6x7x5xf32>) -> tensor<6x7x3xf32>
  return
}
