// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Which tensors the dialect speaks of; each function is named by the constraint
// it breaks.

func.func @tensor1_double(%x: tensor<?x6xf64>) {
  // expected-error @+1 {{must be f32 tensor with positive dimensions of which only the first may be dynamic}}
  %y = seq.neg %x : tensor<?x6xf64>
  return
}

// -----

func.func @tensor1_dynamic_width(%x: tensor<7x?xf32>) {
  // expected-error @+1 {{must be f32 tensor with positive dimensions of which only the first may be dynamic}}
  %y = seq.neg %x : tensor<7x?xf32>
  return
}

// -----

func.func @tensor1_no_elements(%x: tensor<7x0xf32>) {
  // expected-error @+1 {{must be f32 tensor with positive dimensions of which only the first may be dynamic}}
  %y = seq.neg %x : tensor<7x0xf32>
  return
}

// -----

func.func @tensor1_unranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{must be f32 tensor with positive dimensions of which only the first may be dynamic}}
  %y = "seq.neg"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @tensor2_dynamic_parameter(%x: tensor<?x6xf32>, %w: tensor<?xf32>) {
  // expected-error @+1 {{must be f32 tensor with positive static dimensions}}
  %y = seq.rms_norm %x, %w {eps = 0.0 : f64} : tensor<?x6xf32>, tensor<?xf32>
  return
}

// -----

func.func @tensor3_double(%x: tensor<?x6xf32>, %w: tensor<11x6xf64>) {
  // expected-error @+1 {{must be 2-D static f32, bf16, f16 or whole-block tensor}}
  %y = seq.lm_head %x, %w : (tensor<?x6xf32>, tensor<11x6xf64>) -> tensor<?x11xf32>
  return
}

// -----

func.func @tensor4_index_of_64_bits(%t: tensor<?xi64>, %w: tensor<11x6xf32>) {
  // expected-error @+1 {{must be 1-D i32 tensor}}
  %y = seq.embedding %t, %w : (tensor<?xi64>, tensor<11x6xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @tensor1_encoding(%x: tensor<7x6xf32, "dense">) {
  // expected-error @+1 {{must be f32 tensor with positive dimensions of which only the first may be dynamic}}
  %y = seq.neg %x : tensor<7x6xf32, "dense">
  return
}
