// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @linear1_x_of_three(%x: tensor<?x2x3xf32>, %w: tensor<10x6xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,I, but got ?, 2, 3}}
  // expected-note @+1 {{'x' has two dimensions for I: a 'seq.reshape' makes them one}}
  %y = seq.linear %x, %w
      : (tensor<?x2x3xf32>, tensor<10x6xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @linear2_weight_transposed(%x: tensor<?x6xf32>, %w: tensor<6x10xf32>) {
  // expected-error @+2 {{expects 'weight' of shape O,I = O, 6, but got 6, 10}}
  // expected-note @+1 {{'weight' looks transposed: its O and I are exchanged}}
  %y = seq.linear %x, %w
      : (tensor<?x6xf32>, tensor<6x10xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @linear3_bias_of_inputs(%x: tensor<?x6xf32>, %w: tensor<10x6xf32>,
                                  %b: tensor<6xf32>) {
  // expected-error @+2 {{expects 'bias' of shape O = 10, but got 6}}
  // expected-note @+1 {{'bias' has the extent of I where that of O belongs}}
  %y = seq.linear %x, %w bias(%b)
      : (tensor<?x6xf32>, tensor<10x6xf32>, tensor<6xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @linear4_result_transposed(%x: tensor<5x6xf32>, %w: tensor<10x6xf32>) {
  // expected-error @+2 {{expects 'y' of shape T,O = 5, 10, but got 10, 5}}
  // expected-note @+1 {{'y' looks transposed: its T and O are exchanged}}
  %y = seq.linear %x, %w
      : (tensor<5x6xf32>, tensor<10x6xf32>) -> tensor<10x5xf32>
  return
}

// -----

func.func @linear1_channels_not_in_blocks(%x: tensor<?x6xf32>, %w: tensor<2x5x3xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,H,I, but got ?, 6}}
  // expected-note @+1 {{'x' has H and I as one dimension: a 'seq.reshape' splits it}}
  %y = seq.linear %x, %w
      : (tensor<?x6xf32>, tensor<2x5x3xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @linear2_blocks_multiplied_from_the_left(%x: tensor<?x2x3xf32>, %w: tensor<2x3x5xf32>) {
  // expected-error @+2 {{expects 'weight' of shape H,O,I = 2, O, 3, but got 2, 3, 5}}
  // expected-note @+1 {{'weight' looks transposed: its O and I are exchanged}}
  %y = seq.linear %x, %w
      : (tensor<?x2x3xf32>, tensor<2x3x5xf32>) -> tensor<?x2x5xf32>
  return
}

// -----

func.func @linear3_bias_flat(%x: tensor<?x2x3xf32>, %w: tensor<2x5x3xf32>, %b: tensor<10xf32>) {
  // expected-error @+2 {{expects 'bias' of shape H,O = 2, 5, but got 10}}
  // expected-note @+1 {{'bias' has H and O as one dimension: a 'seq.reshape' splits it}}
  %y = seq.linear %x, %w bias(%b)
      : (tensor<?x2x3xf32>, tensor<2x5x3xf32>, tensor<10xf32>) -> tensor<?x2x5xf32>
  return
}

// -----

func.func @linear4_result_flat(%x: tensor<?x2x3xf32>, %w: tensor<2x5x3xf32>) {
  // expected-error @+2 {{expects 'y' of shape T,H,O = ?, 2, 5, but got ?, 10}}
  // expected-note @+1 {{'y' has H and O as one dimension: a 'seq.reshape' splits it}}
  %y = seq.linear %x, %w
      : (tensor<?x2x3xf32>, tensor<2x5x3xf32>) -> tensor<?x10xf32>
  return
}
