// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @running_sum1_dynamic(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'x' of shape T,... with a static T, but got 'tensor<?x6xf32>'}}
  %y = seq.running_sum %x : tensor<?x6xf32>
  return
}

// -----

func.func @running_sum2_other_type(%x: tensor<7x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.running_sum"(%x) : (tensor<7x6xf32>) -> tensor<6x7xf32>
  return
}
