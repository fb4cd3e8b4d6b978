// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @reshape1_other_count(%x: tensor<7x30xf32>) {
  // expected-error @+1 {{expects 'y' with the elements of 'x', a dynamic T leading both, but got 7, 30 and 7, 6, 4}}
  %y = seq.reshape %x : tensor<7x30xf32> -> tensor<7x6x4xf32>
  return
}

// -----

func.func @reshape1_dynamic_becomes_static(%x: tensor<?x30xf32>) {
  // expected-error @+1 {{expects 'y' with the elements of 'x', a dynamic T leading both, but got ?, 30 and 7, 30}}
  %y = seq.reshape %x : tensor<?x30xf32> -> tensor<7x30xf32>
  return
}

// -----

func.func @reshape1_dynamic_is_split(%x: tensor<?x30xf32>) {
  // expected-error @+1 {{expects 'y' with the elements of 'x', a dynamic T leading both, but got ?, 30 and ?, 2, 30}}
  %y = seq.reshape %x : tensor<?x30xf32> -> tensor<?x2x30xf32>
  return
}
