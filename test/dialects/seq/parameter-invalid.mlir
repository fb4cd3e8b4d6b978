// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @parameter1_no_such_weight() {
  // expected-error @+1 {{expects 'weight' to name a 'seq.weight', but got @norm}}
  %w = seq.parameter @norm : tensor<6xf32>
  return
}

// -----

seq.weight @scale source("scale.weight") : tensor<6xf32>
seq.weight @norm source("norm.weight") : tensor<6xf32>
seq.weight @form source("form.weight") : tensor<6xf32>
func.func @parameter1_misspelt() {
  // expected-error @+2 {{expects 'weight' to name a 'seq.weight', but got @nrom}}
  // expected-note @+1 {{did you mean '@norm'?}}
  %w = seq.parameter @nrom : tensor<6xf32>
  return
}

// -----

seq.weight @norm source("norm.weight") : tensor<6xf32>
func.func @parameter1_another_word() {
  // expected-error @+1 {{expects 'weight' to name a 'seq.weight', but got @embedding}}
  %w = seq.parameter @embedding : tensor<6xf32>
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
