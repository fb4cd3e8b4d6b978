// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @softmax1_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{expects 'x' with an axis, but got a scalar}}
  %y = seq.softmax %x : tensor<f32>
  return
}

// -----

func.func @softmax1_result_of_other_type(%x: tensor<?x3xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.softmax"(%x) : (tensor<?x3xf32>) -> tensor<?x2xf32>
  return
}
