// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. The generic form is used
// where the syntax allows no such mistake.

func.func @short_convolution1_x_of_one(%x: tensor<10xf32>, %w: tensor<4x10xf32>, %tail: tensor<3x10xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,D, but got 10}}
  // expected-note @+1 {{'x' lacks the leading T of tokens}}
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      : tensor<10xf32>, (tensor<4x10xf32>), tensor<3x10xf32>
  return
}

// -----

func.func @short_convolution1_result_of_other_type(%x: tensor<?x10xf32>, %w: tensor<4x10xf32>, %tail: tensor<3x10xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y, %next = "seq.short_convolution"(%x, %w, %tail)
      : (tensor<?x10xf32>, tensor<4x10xf32>, tensor<3x10xf32>) -> (tensor<?x9xf32>, tensor<3x10xf32>)
  return
}

// -----

func.func @short_convolution2_weight_transposed(%x: tensor<?x10xf32>, %w: tensor<10x4xf32>, %tail: tensor<3x10xf32>) {
  // expected-error @+2 {{expects 'weight' of shape W,D = W, 10, but got 10, 4}}
  // expected-note @+1 {{'weight' looks transposed: its W and D are exchanged}}
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      : tensor<?x10xf32>, (tensor<10x4xf32>), tensor<3x10xf32>
  return
}

// -----

func.func @short_convolution2_one_tap(%x: tensor<?x10xf32>, %w: tensor<1x10xf32>, %tail: tensor<3x10xf32>) {
  // expected-error @+1 {{expects 'weight' with W of at least 2, but got 1}}
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      : tensor<?x10xf32>, (tensor<1x10xf32>), tensor<3x10xf32>
  return
}

// -----

func.func @short_convolution3_bias_of_taps(%x: tensor<?x10xf32>, %w: tensor<4x10xf32>, %b: tensor<4xf32>, %tail: tensor<3x10xf32>) {
  // expected-error @+2 {{expects 'bias' of shape D = 10, but got 4}}
  // expected-note @+1 {{'bias' has the extent of W where that of D belongs}}
  %y, %next = seq.short_convolution %x parameters(%w, %b) state(%tail)
      : tensor<?x10xf32>, (tensor<4x10xf32>, tensor<4xf32>), tensor<3x10xf32>
  return
}

// -----

func.func @short_convolution4_tail_of_all_taps(%x: tensor<?x10xf32>, %w: tensor<4x10xf32>, %tail: tensor<4x10xf32>) {
  // expected-error @+2 {{expects 'tail' of shape W-1,D = 3, 10, but got 4, 10}}
  // expected-note @+1 {{'tail' has the extent of W where that of W-1 belongs}}
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      : tensor<?x10xf32>, (tensor<4x10xf32>), tensor<4x10xf32>
  return
}

// -----

func.func @short_convolution4_next_of_other_type(%x: tensor<?x10xf32>, %w: tensor<4x10xf32>, %tail: tensor<3x10xf32>) {
  // expected-error @+1 {{failed to verify that all of {tail, next_tail} have same type}}
  %y, %next = "seq.short_convolution"(%x, %w, %tail)
      : (tensor<?x10xf32>, tensor<4x10xf32>, tensor<3x10xf32>) -> (tensor<?x10xf32>, tensor<2x10xf32>)
  return
}

// -----

func.func @short_convolution4_tail_of_more_channels(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>, %tail: tensor<2x10xf32>) {
  // expected-error @+1 {{expects 'tail' of shape W-1,D = 2, 4, but got 2, 10}}
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      : tensor<?x4xf32>, (tensor<3x4xf32>), tensor<2x10xf32>
  return
}

// -----

func.func @short_convolution5_channels_past_the_tail(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>, %tail: tensor<2x10xf32>) {
  // expected-error @+1 {{expects channels from 7 on, 4 of them, among the 10 of 'tail'}}
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail) {first_channel = 7 : i64}
      : tensor<?x4xf32>, (tensor<3x4xf32>), tensor<2x10xf32>
  return
}

// -----

func.func @short_convolution5_channels_before_the_tail(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>, %tail: tensor<2x10xf32>) {
  // expected-error @+1 {{expects channels from -1 on, 4 of them, among the 10 of 'tail'}}
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail) {first_channel = -1 : i64}
      : tensor<?x4xf32>, (tensor<3x4xf32>), tensor<2x10xf32>
  return
}

// -----

func.func @short_convolution5_tail_of_all_taps(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>, %tail: tensor<3x10xf32>) {
  // expected-error @+2 {{expects 'tail' of shape W-1,S = 2, S, but got 3, 10}}
  // expected-note @+1 {{'tail' has the extent of W where that of W-1 belongs}}
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail) {first_channel = 6 : i64}
      : tensor<?x4xf32>, (tensor<3x4xf32>), tensor<3x10xf32>
  return
}
