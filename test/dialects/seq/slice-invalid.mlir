// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @slice1_axis_past_the_last(%x: tensor<?x22xf32>) {
  // expected-error @+1 {{expects 'axis' in [0, 2), but got 2}}
  %y = seq.slice %x {axis = 2 : i64, offset = 0 : i64, size = 1 : i64}
      : tensor<?x22xf32> -> tensor<?x22xf32>
  return
}

// -----

func.func @slice2_negative_offset(%x: tensor<?x22xf32>) {
  // expected-error @+1 {{expects 'offset' of at least 0 and 'size' of at least 1, but got -1 and 6}}
  %y = seq.slice %x {axis = 1 : i64, offset = -1 : i64, size = 6 : i64}
      : tensor<?x22xf32> -> tensor<?x6xf32>
  return
}

// -----

func.func @slice2_empty(%x: tensor<?x22xf32>) {
  // expected-error @+1 {{expects 'offset' of at least 0 and 'size' of at least 1, but got 10 and 0}}
  %y = seq.slice %x {axis = 1 : i64, offset = 10 : i64, size = 0 : i64}
      : tensor<?x22xf32> -> tensor<?x6xf32>
  return
}

// -----

func.func @slice3_past_the_end(%x: tensor<?x22xf32>) {
  // expected-error @+1 {{expects 'offset' + 'size' of at most 22 on axis 1, but got 23}}
  %y = seq.slice %x {axis = 1 : i64, offset = 17 : i64, size = 6 : i64}
      : tensor<?x22xf32> -> tensor<?x6xf32>
  return
}

// -----

func.func @slice4_other_size(%x: tensor<?x22xf32>) {
  // expected-error @+1 {{expects 'y' of shape ?, 6, but got ?, 7}}
  %y = seq.slice %x {axis = 1 : i64, offset = 10 : i64, size = 6 : i64}
      : tensor<?x22xf32> -> tensor<?x7xf32>
  return
}

// -----

func.func @slice3_past_a_projection(%x: tensor<?x9xf32>, %w: tensor<22x9xf32>) {
  %p = seq.linear %x, %w : (tensor<?x9xf32>, tensor<22x9xf32>) -> tensor<?x22xf32>
  // expected-error @+2 {{expects 'offset' + 'size' of at most 22 on axis 1, but got 23}}
  // expected-note @+1 {{'x' is a projection of 22 outputs: its weight perhaps lacks rows, or a slice before this one is too long}}
  %y = seq.slice %p {axis = 1 : i64, offset = 17 : i64, size = 6 : i64}
      : tensor<?x22xf32> -> tensor<?x6xf32>
  return
}

// -----

func.func @slice4_other_elements(%w: tensor<9x22xbf16>) {
  // expected-error @+1 {{expects 'y' with elements of 'bf16', but got 'f16'}}
  %y = seq.slice %w {axis = 0 : i64, offset = 7 : i64, size = 2 : i64}
      : tensor<9x22xbf16> -> tensor<2x22xf16>
  return
}

// -----

func.func @slice5_columns_of_weights(%w: tensor<9x22xbf16>) {
  // expected-error @+1 {{expects a matrix of weights to be sliced along its rows, axis 0, but got axis 1}}
  %y = seq.slice %w {axis = 1 : i64, offset = 10 : i64, size = 6 : i64}
      : tensor<9x22xbf16> -> tensor<9x6xbf16>
  return
}
