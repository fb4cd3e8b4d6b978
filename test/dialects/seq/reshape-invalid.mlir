// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @reshape1_other_count(%x: tensor<7x30xf32>) {
  // expected-error @+2 {{expects 'y' with the elements of 'x', a dynamic T leading both, but got 7, 30 and 7, 6, 4}}
  // expected-note @+1 {{of 30 channels each of 6 heads has 5}}
  %y = seq.reshape %x : tensor<7x30xf32> -> tensor<7x6x4xf32>
  return
}

// -----

func.func @reshape1_dynamic_becomes_static(%x: tensor<?x30xf32>) {
  // expected-error @+2 {{expects 'y' with the elements of 'x', a dynamic T leading both, but got ?, 30 and 7, 30}}
  // expected-note @+1 {{T is the number of tokens, which a model's text leaves open}}
  %y = seq.reshape %x : tensor<?x30xf32> -> tensor<7x30xf32>
  return
}

// -----

func.func @reshape1_dynamic_is_split(%x: tensor<?x30xf32>) {
  // expected-error @+2 {{expects 'y' with the elements of 'x', a dynamic T leading both, but got ?, 30 and ?, 2, 30}}
  // expected-note @+1 {{of 30 channels each of 2 heads has 15}}
  %y = seq.reshape %x : tensor<?x30xf32> -> tensor<?x2x30xf32>
  return
}

// -----

func.func @reshape1_heads_that_do_not_divide(%x: tensor<?x30xf32>) {
  // expected-error @+2 {{expects 'y' with the elements of 'x', a dynamic T leading both, but got ?, 30 and ?, 4, 8}}
  // expected-note @+1 {{30 channels do not divide into 4 heads}}
  %y = seq.reshape %x : tensor<?x30xf32> -> tensor<?x4x8xf32>
  return
}
