// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. The generic form is used
// where the syntax allows no such mistake.

func.func @rms_norm1_x_of_three(%x: tensor<?x2x3xf32>, %w: tensor<6xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,D, but got ?, 2, 3}}
  // expected-note @+1 {{'x' has two dimensions for D: a 'seq.reshape' makes them one}}
  %y = seq.rms_norm %x, %w {eps = 0.0 : f64} : tensor<?x2x3xf32>, tensor<6xf32>
  return
}

// -----

func.func @rms_norm1_result_of_other_type(%x: tensor<?x6xf32>, %w: tensor<6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.rms_norm"(%x, %w) <{eps = 0.0 : f64}>
      : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @rms_norm2_other_width(%x: tensor<?x6xf32>, %w: tensor<7xf32>) {
  // expected-error @+1 {{expects 'weight' of shape D = 6, but got 7}}
  %y = seq.rms_norm %x, %w {eps = 0.0 : f64} : tensor<?x6xf32>, tensor<7xf32>
  return
}

// -----

func.func @rms_norm3_negative(%x: tensor<?x6xf32>, %w: tensor<6xf32>) {
  // expected-error @+1 {{expects 'eps' finite and at least 0, but got -1.000000e-05}}
  %y = seq.rms_norm %x, %w {eps = -1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  return
}

// -----

func.func @rms_norm3_infinite(%x: tensor<?x6xf32>, %w: tensor<6xf32>) {
  // expected-error @+1 {{expects 'eps' finite and at least 0, but got 0x7FF0000000000000}}
  %y = seq.rms_norm %x, %w {eps = 0x7FF0000000000000 : f64}
      : tensor<?x6xf32>, tensor<6xf32>
  return
}
