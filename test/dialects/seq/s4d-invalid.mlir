// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @s4d1_x_rank(%a0: tensor<?x30xf32>, %a1: tensor<6x5xf32>, %a2: tensor<6x3x5xf32>, %a3: tensor<6x3x5xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,H,V, but got ?, 30}}
  // expected-note @+1 {{'x' has H and V as one dimension: a 'seq.reshape' splits it}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x30xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @s4d2_log_dt_v(%a0: tensor<?x6x5xf32>, %a1: tensor<6x9xf32>, %a2: tensor<6x3x5xf32>, %a3: tensor<6x3x5xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'log_dt' of shape H,V = 6, 5, but got 6, 9}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x6x5xf32>, tensor<6x9xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @s4d3_log_a_v(%a0: tensor<?x6x5xf32>, %a1: tensor<6x5xf32>, %a2: tensor<6x3x9xf32>, %a3: tensor<6x3x5xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'log_a' of shape H,K,V = 6, K, 5, but got 6, 3, 9}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x9xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @s4d4_a_imaginary_k(%a0: tensor<?x6x5xf32>, %a1: tensor<6x5xf32>, %a2: tensor<6x3x5xf32>, %a3: tensor<6x4x5xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'a_imaginary' of shape H,K,V = 6, 3, 5, but got 6, 4, 5}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x4x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @s4d5_c_k(%a0: tensor<?x6x5xf32>, %a1: tensor<6x5xf32>, %a2: tensor<6x3x5xf32>, %a3: tensor<6x3x5xf32>, %a4: tensor<6x4x5xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'c' of shape H,K,V = 6, 3, 5, but got 6, 4, 5}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x4x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @s4d6_c_imaginary_k(%a0: tensor<?x6x5xf32>, %a1: tensor<6x5xf32>, %a2: tensor<6x3x5xf32>, %a3: tensor<6x3x5xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x4x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'c_imaginary' of shape H,K,V = 6, 3, 5, but got 6, 4, 5}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x4x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @s4d7_d_v(%a0: tensor<?x6x5xf32>, %a1: tensor<6x5xf32>, %a2: tensor<6x3x5xf32>, %a3: tensor<6x3x5xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x9xf32>, %a7: tensor<6x3x5xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'd' of shape H,V = 6, 5, but got 6, 9}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x9xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @s4d8_state_k(%a0: tensor<?x6x5xf32>, %a1: tensor<6x5xf32>, %a2: tensor<6x3x5xf32>, %a3: tensor<6x3x5xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x4x5xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 4, 5}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x4x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x4x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @s4d9_state_imaginary_k(%a0: tensor<?x6x5xf32>, %a1: tensor<6x5xf32>, %a2: tensor<6x3x5xf32>, %a3: tensor<6x3x5xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>, %a8: tensor<6x4x5xf32>) {
  // expected-error @+1 {{expects 'state_imaginary' of shape H,K,V = 6, 3, 5, but got 6, 4, 5}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x4x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x4x5xf32>)
  return
}

// -----

func.func @s4d10_y_v(%a0: tensor<?x6x5xf32>, %a1: tensor<6x5xf32>, %a2: tensor<6x3x5xf32>, %a3: tensor<6x3x5xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:3 = "seq.s4d"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x9xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
  return
}
