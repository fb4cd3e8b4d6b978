// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @gather_rows1_other_channels(%t: tensor<22x6xbf16>, %r: tensor<?x3xi32>) {
  // expected-error @+1 {{expects 'y' of shape T,J,B,D = ?, 3, B, 6, but got ?, 3, 2, 5}}
  %y = seq.gather_rows %t, %r : (tensor<22x6xbf16>, tensor<?x3xi32>) -> tensor<?x3x2x5xf32>
  return
}

// -----

func.func @gather_rows2_partial_block(%t: tensor<22x6xbf16>, %r: tensor<?x3xi32>) {
  // expected-error @+1 {{expects B to divide the 22 rows of 'table', but got 4}}
  %y = seq.gather_rows %t, %r : (tensor<22x6xbf16>, tensor<?x3xi32>) -> tensor<?x3x4x6xf32>
  return
}
