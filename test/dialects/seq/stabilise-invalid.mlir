// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @stabilise1_other_gate(%d: tensor<7x6xf32>, %i: tensor<7x5xf32>, %m: tensor<6xf32>) {
  // expected-error @+1 {{failed to verify that all of {log_decay, log_gate, scaled_decay, scaled_gate, maxima} have same type}}
  %r:4 = "seq.stabilise"(%d, %i, %m) : (tensor<7x6xf32>, tensor<7x5xf32>, tensor<6xf32>)
      -> (tensor<7x6xf32>, tensor<7x6xf32>, tensor<7x6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @stabilise2_other_maximum(%d: tensor<7x6xf32>, %i: tensor<7x6xf32>, %m: tensor<5xf32>) {
  // expected-error @+1 {{expects 'maximum' of the shape of 'log_decay' without T, but got 5 and 7, 6}}
  %r:4 = seq.stabilise %d, %i from %m : tensor<7x6xf32>, tensor<5xf32>
  return
}
