// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @parameter1_no_such_weight() {
  // expected-error @+1 {{expects 'weight' to name a 'seq.weight', but got @norm}}
  %w = seq.parameter @norm : tensor<6xf32>
  return
}

// -----

seq.weight @norm source("norm.weight") : tensor<6xf32>
seq.weight @head source("head.weight") : tensor<6xf32>
func.func @parameter1_misspelt() {
  // expected-error @+2 {{expects 'weight' to name a 'seq.weight', but got @nrm}}
  // expected-note @+1 {{is @norm meant?}}
  %w = seq.parameter @nrm : tensor<6xf32>
  return
}

// -----

func.func @parameter1_names_a_function() {
  // expected-error @+1 {{expects 'weight' to name a 'seq.weight', but got @parameter1_names_a_function}}
  %w = seq.parameter @parameter1_names_a_function : tensor<6xf32>
  return
}

// -----

// expected-note @+1 {{the weight is declared here}}
seq.weight @norm source("norm.weight") : tensor<6xf32>
func.func @parameter2_other_type() {
  // expected-error @+1 {{expects 'result' of the weight's type 'tensor<6xf32>', but got 'tensor<7xf32>'}}
  %w = seq.parameter @norm : tensor<7xf32>
  return
}
