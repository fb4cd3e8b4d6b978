// RUN: effc-opt %s --split-input-file --verify-diagnostics

// What a note says of a shape that is not the expected one: each function is
// named by the cause.

seq.weight @out source("out") : tensor<24x30xf32>
func.func @a_weight_lies_transposed(%x: tensor<?x24xf32>) {
  %w = seq.parameter @out : tensor<24x30xf32>
  // expected-error @+2 {{expects 'weight' of shape O,I = O, 24, but got 24, 30}}
  // expected-note @+1 {{'weight' looks transposed: its O and I are exchanged; a weight that is stored so is declared 'transposed'}}
  %y = seq.linear %x, %w : (tensor<?x24xf32>, tensor<24x30xf32>) -> tensor<?x30xf32>
  return
}

// -----

seq.weight @other source("other") : tensor<30x20xf32>
func.func @a_weight_of_another_layer(%x: tensor<?x24xf32>) {
  %w = seq.parameter @other : tensor<30x20xf32>
  // expected-error @+2 {{expects 'weight' of shape O,I = O, 24, but got 30, 20}}
  // expected-note @+1 {{'weight' is the weight 'other', perhaps that of another layer}}
  %y = seq.linear %x, %w : (tensor<?x24xf32>, tensor<30x20xf32>) -> tensor<?x30xf32>
  return
}

// -----

func.func @a_state_of_another_layer(%q: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %s: tensor<8x3x5xf32> {seq.state_name = "layers.1"})
    -> tensor<8x3x5xf32> {
  // expected-error @+2 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 8, 3, 5}}
  // expected-note @+1 {{'state' is the state 'layers.1', perhaps that of another layer}}
  %y, %next = seq.linear_attention %q, %q, %v state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<8x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<8x3x5xf32>)
  return %next : tensor<8x3x5xf32>
}

// -----

func.func @keys_and_values_exchanged(%q: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %s: tensor<6x5x3xf32>) {
  // expected-error @+2 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 5, 3}}
  // expected-note @+1 {{'state' looks transposed: its K and V are exchanged}}
  %y, %next = seq.linear_attention %q, %q, %v state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x5x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x5x3xf32>)
  return
}

// -----

func.func @heads_that_do_not_divide(%q: tensor<?x4x3xf32>, %v: tensor<?x6x5xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects G to divide H = 6, but got 4}}
  // expected-note @+1 {{each group serves as many heads as any other; a projection of another width was perhaps taken}}
  %y, %next = seq.linear_attention %q, %q, %v state(%s)
      : (tensor<?x4x3xf32>, tensor<?x4x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @groups_and_heads_exchanged(%q: tensor<?x6x3xf32>, %v: tensor<?x2x5xf32>, %s: tensor<2x3x5xf32>) {
  // expected-error @+2 {{expects G to divide H = 2, but got 6}}
  // expected-note @+1 {{heads share queries and keys, not values: they were perhaps exchanged}}
  %y, %next = seq.linear_attention %q, %q, %v state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x2x5xf32>, tensor<2x3x5xf32>) -> (tensor<?x2x5xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @a_state_for_each_group(%q: tensor<?x2x3xf32>, %v: tensor<?x6x5xf32>, %s: tensor<2x3x5xf32>) {
  // expected-error @+2 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 2, 3, 5}}
  // expected-note @+1 {{'state' has the extent of G where that of H belongs}}
  %y, %next = seq.linear_attention %q, %q, %v state(%s)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<2x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @heads_not_split(%q: tensor<?x6x3xf32>, %v: tensor<?x30xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'v' of shape T,H,V = ?, H, V, but got ?, 30}}
  // expected-note @+1 {{'v' has H and V as one dimension: a 'seq.reshape' splits it}}
  %y, %next = seq.linear_attention %q, %q, %v state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x30xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @heads_not_merged(%x: tensor<?x6x4xf32>, %w: tensor<30x24xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,I, but got ?, 6, 4}}
  // expected-note @+1 {{'x' has two dimensions for I: a 'seq.reshape' makes them one}}
  %y = seq.linear %x, %w : (tensor<?x6x4xf32>, tensor<30x24xf32>) -> tensor<?x30xf32>
  return
}

// -----

func.func @a_batch_in_front(%x: tensor<?x24xf32>, %w: tensor<3x24xf32>, %tail: tensor<1x2x24xf32>) {
  // expected-error @+2 {{expects 'tail' of shape W-1,D = 2, 24, but got 1, 2, 24}}
  // expected-note @+1 {{'tail' has a dimension of sequences in front: a value is of one sequence}}
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      : tensor<?x24xf32>, (tensor<3x24xf32>), tensor<1x2x24xf32>
  return
}
