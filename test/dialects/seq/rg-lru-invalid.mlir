// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @rg_lru1_x_rank(%a0: tensor<?x30xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?xi32>, %a4: tensor<6x5xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,H,V, but got ?, 30}}
  // expected-note @+1 {{'x' has H and V as one dimension: a 'seq.reshape' splits it}}
  %r:2 = "seq.rg_lru"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x30xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @rg_lru2_recurrence_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x9xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?xi32>, %a4: tensor<6x5xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'recurrence' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.rg_lru"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6x9xf32>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @rg_lru3_input_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x6x9xf32>, %a3: tensor<?xi32>, %a4: tensor<6x5xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'input' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.rg_lru"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x6x9xf32>, tensor<?xi32>, tensor<6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @rg_lru4_positions_t(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<7xi32>, %a4: tensor<6x5xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'positions' of shape T = ?, but got 7}}
  %r:2 = "seq.rg_lru"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<7xi32>, tensor<6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @rg_lru5_rate_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?xi32>, %a4: tensor<6x9xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'rate' of shape H,V = 6, 5, but got 6, 9}}
  %r:2 = "seq.rg_lru"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x9xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @rg_lru6_state_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?xi32>, %a4: tensor<6x5xf32>, %a5: tensor<6x1x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,1,V = 6, 1, 5, but got 6, 1, 9}}
  %r:2 = "seq.rg_lru"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x5xf32>, tensor<6x1x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x9xf32>)
  return
}

// -----

func.func @rg_lru7_y_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?xi32>, %a4: tensor<6x5xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.rg_lru"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x9xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @rg_lru8_exponent_of_0(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?xi32>, %a4: tensor<6x5xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'exponent' finite and above 0, but got 0.000000e+00}}
  %r:2 = "seq.rg_lru"(%a0, %a1, %a2, %a3, %a4, %a5) {exponent = 0.0 : f64}
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}
