// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @group_norm1_x_of_three(%x: tensor<?x3x4xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,D, but got ?, 3, 4}}
  // expected-note @+1 {{'x' has two dimensions for D: a 'seq.reshape' makes them one}}
  %y = seq.group_norm %x {eps = 0.0 : f64} : tensor<?x3x4xf32>
  return
}

// -----

func.func @group_norm2_partial_group(%x: tensor<?x12xf32>) {
  // expected-error @+2 {{expects 'groups' of at least 1 that divides D = 12, but got 5}}
  // expected-note @+1 {{'groups' is how many there are, not the channels of each: as many as heads where each head has its own}}
  %y = seq.group_norm %x {eps = 0.0 : f64, groups = 5 : i64} : tensor<?x12xf32>
  return
}

// -----

func.func @group_norm3_weight_of_groups(%x: tensor<?x12xf32>, %w: tensor<3xf32>) {
  // expected-error @+1 {{expects 'weight' of shape D = 12 or C = 4, but got 3}}
  %y = seq.group_norm %x weight(%w : tensor<3xf32>) {eps = 0.0 : f64, groups = 3 : i64} : tensor<?x12xf32>
  return
}

// -----

func.func @group_norm3_bias_of_groups(%x: tensor<?x12xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expects 'bias' of shape D = 12 or C = 4, but got 3}}
  %y = seq.group_norm %x bias(%b : tensor<3xf32>) {eps = 0.0 : f64, groups = 3 : i64} : tensor<?x12xf32>
  return
}

// -----

func.func @group_norm4_negative(%x: tensor<?x12xf32>) {
  // expected-error @+1 {{expects 'eps' finite and at least 0, but got -1.000000e+00}}
  %y = seq.group_norm %x {eps = -1.0 : f64} : tensor<?x12xf32>
  return
}

// -----

func.func @group_norm5_offset_of_nothing(%x: tensor<?x12xf32>) {
  // expected-error @+1 {{expects 'unit_offset' with a 'weight', but got none}}
  %y = seq.group_norm %x {eps = 0.0 : f64, unit_offset} : tensor<?x12xf32>
  return
}
