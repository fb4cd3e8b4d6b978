// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @permute_channels1_heads(%x: tensor<?x2x6xf32>, %order: tensor<12xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,D, but got ?, 2, 6}}
  // expected-note @+1 {{'x' has two dimensions for D: a 'seq.reshape' makes them one}}
  %y = seq.permute_channels %x by %order : tensor<?x2x6xf32>, tensor<12xf32>
  return
}

// -----

func.func @permute_channels2_fewer_numbers(%x: tensor<?x6xf32>, %order: tensor<5xf32>) {
  // expected-error @+1 {{expects 'order' of shape D = 6, but got 5}}
  %y = seq.permute_channels %x by %order : tensor<?x6xf32>, tensor<5xf32>
  return
}

// -----

func.func @permute_channels3_more_than_f32_can_number(%x: tensor<?x16777217xf32>, %order: tensor<16777217xf32>) {
  // expected-error @+1 {{expects at most 16777216 channels, which f32 can number, but got 16777217}}
  %y = seq.permute_channels %x by %order : tensor<?x16777217xf32>, tensor<16777217xf32>
  return
}
