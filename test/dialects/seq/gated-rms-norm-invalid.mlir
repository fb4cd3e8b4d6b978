// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. The generic form is used
// where the syntax allows no such mistake.

func.func @gated_rms_norm1_x_of_one(%x: tensor<10xf32>, %w: tensor<10xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,D, but got 10}}
  // expected-note @+1 {{'x' lacks the leading T of tokens}}
  %y = seq.gated_rms_norm %x, %x, %w {eps = 0.0 : f64, groups = 2 : i64}
      : tensor<10xf32>, tensor<10xf32>
  return
}

// -----

func.func @gated_rms_norm1_gate_of_other_type(%x: tensor<?x10xf32>, %z: tensor<?x9xf32>, %w: tensor<10xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, gate, y} have same type}}
  %y = "seq.gated_rms_norm"(%x, %z, %w) <{eps = 0.0 : f64, groups = 2 : i64}>
      : (tensor<?x10xf32>, tensor<?x9xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  return
}

// -----

func.func @gated_rms_norm2_weight_of_a_group(%x: tensor<?x10xf32>, %z: tensor<?x10xf32>, %w: tensor<5xf32>) {
  // expected-error @+1 {{expects 'weight' of shape D = 10, but got 5}}
  %y = seq.gated_rms_norm %x, %z, %w {eps = 0.0 : f64, groups = 2 : i64}
      : tensor<?x10xf32>, tensor<5xf32>
  return
}

// -----

func.func @gated_rms_norm3_not_a_number(%x: tensor<?x10xf32>, %z: tensor<?x10xf32>, %w: tensor<10xf32>) {
  // expected-error @+1 {{expects 'eps' finite and at least 0, but got 0x7FF8000000000000}}
  %y = seq.gated_rms_norm %x, %z, %w {eps = 0x7FF8000000000000 : f64, groups = 2 : i64}
      : tensor<?x10xf32>, tensor<10xf32>
  return
}

// -----

func.func @gated_rms_norm4_no_groups(%x: tensor<?x10xf32>, %z: tensor<?x10xf32>, %w: tensor<10xf32>) {
  // expected-error @+2 {{expects 'groups' of at least 1 that divides D = 10, but got 0}}
  // expected-note @+1 {{'groups' is how many there are, not the channels of each: as many as heads where each head has its own}}
  %y = seq.gated_rms_norm %x, %z, %w {eps = 0.0 : f64, groups = 0 : i64}
      : tensor<?x10xf32>, tensor<10xf32>
  return
}

// -----

func.func @gated_rms_norm4_groups_do_not_divide(%x: tensor<?x10xf32>, %z: tensor<?x10xf32>, %w: tensor<10xf32>) {
  // expected-error @+2 {{expects 'groups' of at least 1 that divides D = 10, but got 3}}
  // expected-note @+1 {{'groups' is how many there are, not the channels of each: as many as heads where each head has its own}}
  %y = seq.gated_rms_norm %x, %z, %w {eps = 0.0 : f64, groups = 3 : i64}
      : tensor<?x10xf32>, tensor<10xf32>
  return
}
