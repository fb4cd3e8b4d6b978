// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @constant1_nan() {
  // expected-error @+1 {{expects 'value' to be a number, but got NaN}}
  %y = seq.constant 0x7FF8000000000000 : tensor<6xf32>
  return
}

// -----

func.func @constant2_dynamic() {
  // expected-error @+1 {{result #0 must be f32 tensor with positive static dimensions}}
  %y = seq.constant 5.000000e-01 : tensor<?x6xf32>
  return
}
