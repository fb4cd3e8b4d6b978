// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @sum_rows1_other_rows(%w: tensor<?x3xf32>, %r: tensor<?x5xi32>, %t: tensor<22x6xf32>) {
  // expected-error @+1 {{expects 'rows' of shape T,J = ?, 3, but got ?, 5}}
  %y = seq.sum_rows %w, %r, %t : (tensor<?x3xf32>, tensor<?x5xi32>, tensor<22x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @sum_rows2_other_channels(%w: tensor<?x3xf32>, %r: tensor<?x3xi32>, %t: tensor<22x6xf32>) {
  // expected-error @+2 {{expects 'y' of shape T,D = ?, 6, but got ?, 22}}
  // expected-note @+1 {{'y' has the extent of N where that of D belongs}}
  %y = seq.sum_rows %w, %r, %t : (tensor<?x3xf32>, tensor<?x3xi32>, tensor<22x6xf32>) -> tensor<?x22xf32>
  return
}
