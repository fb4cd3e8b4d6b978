// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. The generic form is used
// where the syntax allows no such mistake.

func.func @token_shift1_one_number_per_token(%x: tensor<?xf32>, %last: tensor<1xf32>) {
  // expected-error @+1 {{expects 'x' of shape T,D, but got ?}}
  %y, %next = seq.token_shift %x state(%last) : tensor<?xf32>, tensor<1xf32>
  return
}

// -----

func.func @token_shift1_result_of_other_type(%x: tensor<?x10xf32>, %last: tensor<10xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y, %next = "seq.token_shift"(%x, %last)
      : (tensor<?x10xf32>, tensor<10xf32>) -> (tensor<?x9xf32>, tensor<10xf32>)
  return
}

// -----

func.func @token_shift2_channels_before_heads(%x: tensor<?x3x5xf32>, %last: tensor<5x3xf32>) {
  // expected-error @+2 {{expects 'last' of shape H,D = 3, 5, but got 5, 3}}
  // expected-note @+1 {{'last' looks transposed: its H and D are exchanged}}
  %y, %next = seq.token_shift %x state(%last) : tensor<?x3x5xf32>, tensor<5x3xf32>
  return
}

// -----

func.func @token_shift2_next_of_other_type(%x: tensor<?x10xf32>, %last: tensor<10xf32>) {
  // expected-error @+1 {{failed to verify that all of {last, next_last} have same type}}
  %y, %next = "seq.token_shift"(%x, %last)
      : (tensor<?x10xf32>, tensor<10xf32>) -> (tensor<?x10xf32>, tensor<9xf32>)
  return
}
