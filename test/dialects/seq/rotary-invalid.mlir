// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @rotary1_not_split_into_heads(%x: tensor<?x48xf32>, %p: tensor<?xi32>, %f: tensor<3xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,H,K, but got ?, 48}}
  // expected-note @+1 {{'x' has H and K as one dimension: a 'seq.reshape' splits it}}
  %y = seq.rotary half %x at(%p), %f : tensor<?x48xf32>, tensor<?xi32>, tensor<3xf32>
  return
}

// -----

func.func @rotary2_frequency_per_channel(%x: tensor<?x6x8xf32>, %p: tensor<?xi32>, %f: tensor<8xf32>) {
  // expected-error @+2 {{expects 2 P of at most K = 8, but got 16}}
  // expected-note @+1 {{there is one frequency for each pair of channels}}
  %y = seq.rotary half %x at(%p), %f : tensor<?x6x8xf32>, tensor<?xi32>, tensor<8xf32>
  return
}

// -----

func.func @rotary3_amplitude_without_end(%x: tensor<?x6x8xf32>, %p: tensor<?xi32>, %f: tensor<3xf32>) {
  // expected-error @+1 {{expects a finite 'amplitude', but got 0x7FF0000000000000 : f64}}
  %y = seq.rotary half %x at(%p), %f {amplitude = 0x7FF0000000000000 : f64} : tensor<?x6x8xf32>, tensor<?xi32>, tensor<3xf32>
  return
}

// -----

func.func @cosine_sine1_as_many_channels(%x: tensor<?x3x4xf32>, %p: tensor<?xi32>, %f: tensor<3x4xf32>) {
  // expected-error @+2 {{expects 'y' of shape T,H,2K = ?, 3, 8, but got ?, 3, 4}}
  // expected-note @+1 {{'y' has the extent of K where that of 2K belongs}}
  %y = seq.cosine_sine %x at(%p), %f : (tensor<?x3x4xf32>, tensor<?xi32>, tensor<3x4xf32>) -> tensor<?x3x4xf32>
  return
}

// -----

func.func @rotary4_last_before_the_start(%x: tensor<?x6x8xf32>, %p: tensor<?xi32>, %f: tensor<3xf32>) {
  // expected-error @+1 {{expects 'last' of at least 0, but got -1}}
  %y = seq.rotary half %x at(%p), %f {last = -1 : i64} : tensor<?x6x8xf32>, tensor<?xi32>, tensor<3xf32>
  return
}

// -----

func.func @rotary1_frequencies_of_heads_and_positions(%x: tensor<?x6x8xf32>, %p: tensor<?xi32>, %f: tensor<40x6x3xf32>) {
  // expected-error @+1 {{expects 'frequencies' of shape P, but got 40, 6, 3}}
  %y = seq.rotary half %x at(%p), %f : tensor<?x6x8xf32>, tensor<?xi32>, tensor<40x6x3xf32>
  return
}

// -----

func.func @rotary2_rows_of_a_frequency_per_channel(%x: tensor<?x6x8xf32>, %p: tensor<?xi32>, %f: tensor<40x8xf32>) {
  // expected-error @+2 {{expects 2 P of at most K = 8, but got 16}}
  // expected-note @+1 {{there is one frequency for each pair of channels}}
  %y = seq.rotary half %x at(%p), %f : tensor<?x6x8xf32>, tensor<?xi32>, tensor<40x8xf32>
  return
}
