// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @expert_output1_other_rows(%h: tensor<?x3x2xf32>, %r: tensor<?x4xi32>, %t: tensor<55x2xf32>) {
  // expected-error @+1 {{expects 'rows' of shape T,J = ?, 3, but got ?, 4}}
  %y = seq.expert_output %h, %r, %t : (tensor<?x3x2xf32>, tensor<?x4xi32>, tensor<55x2xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @expert_output2_table_of_other_units(%h: tensor<?x3x2xf32>, %r: tensor<?x3xi32>, %t: tensor<55x3xf32>) {
  // expected-error @+2 {{expects 'table' of shape N,F = N, 2, but got 55, 3}}
  // expected-note @+1 {{'table' has the extent of J where that of F belongs}}
  %y = seq.expert_output %h, %r, %t : (tensor<?x3x2xf32>, tensor<?x3xi32>, tensor<55x3xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @expert_output3_partial_expert(%h: tensor<?x3x2xf32>, %r: tensor<?x3xi32>, %t: tensor<55x2xf32>) {
  // expected-error @+1 {{expects O to divide the 55 rows of 'table', but got 6}}
  %y = seq.expert_output %h, %r, %t : (tensor<?x3x2xf32>, tensor<?x3xi32>, tensor<55x2xf32>) -> tensor<?x6xf32>
  return
}
