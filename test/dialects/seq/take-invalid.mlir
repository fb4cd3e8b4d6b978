// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @take1_other_heads(%x: tensor<?x2x7xf32>, %n: tensor<?x5x3xi32>) {
  // expected-error @+1 {{expects 'numbers' to agree with 'x' on all axes but the last, but got ?, 5, 3 and ?, 2, 7}}
  %y = seq.take %x, %n : (tensor<?x2x7xf32>, tensor<?x5x3xi32>) -> tensor<?x5x3xf32>
  return
}

// -----

func.func @take2_result_of_x(%x: tensor<?x7xf32>, %n: tensor<?x3xi32>) {
  // expected-error @+1 {{expects 'y' of the shape of 'numbers', ?, 3, but got ?, 7}}
  %y = seq.take %x, %n : (tensor<?x7xf32>, tensor<?x3xi32>) -> tensor<?x7xf32>
  return
}
