// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. The generic form is used
// where the syntax allows no such mistake.

func.func @clamp1_result_of_other_type(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y = "seq.clamp"(%x) <{lower = 0.0 : f64}> : (tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @clamp2_no_bound(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'lower', 'upper' or both, but got neither}}
  %y = seq.clamp %x : tensor<?x6xf32>
  return
}

// -----

func.func @clamp2_not_a_number(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects bounds that are numbers, but got NaN}}
  %y = seq.clamp %x {upper = 0x7FF8000000000000 : f64} : tensor<?x6xf32>
  return
}

// -----

func.func @clamp3_bounds_exchanged(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'lower' of at most 'upper', but got 1.000000e-01 : f64 and 1.000000e-03 : f64}}
  %y = seq.clamp %x {lower = 0.1 : f64, upper = 1.0e-3 : f64} : tensor<?x6xf32>
  return
}
