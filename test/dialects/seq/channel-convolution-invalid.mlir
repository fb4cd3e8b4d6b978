// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @channel_convolution1_rows_beside_weight(%x: tensor<?x3x6xf32>, %w: tensor<?x3xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,D, but got ?, 3, 6}}
  // expected-note @+1 {{'x' has two dimensions for D: a 'seq.reshape' makes them one}}
  %y = seq.channel_convolution %x weight(%w) {before = 1 : i64}
      : (tensor<?x3x6xf32>, tensor<?x3xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @channel_convolution1_neither(%x: tensor<?x6xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,M,D, but got ?, 6}}
  // expected-note @+1 {{'x' has M and D as one dimension: a 'seq.reshape' splits it}}
  %y = seq.channel_convolution %x {before = 1 : i64} : (tensor<?x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @channel_convolution2_other_rows(%x: tensor<?x6xf32>, %w: tensor<7x3xf32>) {
  // expected-error @+1 {{expects 'weight' of shape T,M = ?, M, but got 7, 3}}
  %y = seq.channel_convolution %x weight(%w) {before = 1 : i64}
      : (tensor<?x6xf32>, tensor<7x3xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @channel_convolution3_bias_of_channels(%x: tensor<?x6xf32>, %w: tensor<?x3xf32>, %b: tensor<6xf32>) {
  // expected-error @+2 {{expects 'bias' of shape T = ?, but got 6}}
  // expected-note @+1 {{'bias' has the extent of D where that of T belongs}}
  %y = seq.channel_convolution %x weight(%w) bias(%b) {before = 1 : i64}
      : (tensor<?x6xf32>, tensor<?x3xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @channel_convolution4_before(%x: tensor<?x6xf32>, %w: tensor<?x3xf32>) {
  // expected-error @+1 {{expects 'before' in [0, 3), but got 3}}
  %y = seq.channel_convolution %x weight(%w) {before = 3 : i64}
      : (tensor<?x6xf32>, tensor<?x3xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @channel_convolution4_negative(%x: tensor<?x3x6xf32>) {
  // expected-error @+1 {{expects 'before' in [0, 3), but got -1}}
  %y = seq.channel_convolution %x {before = -1 : i64} : (tensor<?x3x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @channel_convolution5_valid_only(%x: tensor<?x6xf32>, %w: tensor<?x3xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,D = ?, 6, but got ?, 4}}
  %y = seq.channel_convolution %x weight(%w) {before = 1 : i64}
      : (tensor<?x6xf32>, tensor<?x3xf32>) -> tensor<?x4xf32>
  return
}
