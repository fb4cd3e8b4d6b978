// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @normalised_rotary1_turned_q_rank(%a0: tensor<?x6xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+2 {{expects 'turned_q' of shape T,G,K, but got ?, 6}}
  // expected-note @+1 {{'turned_q' has G and K as one dimension: a 'seq.reshape' splits it}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary2_turned_k_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x4xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+1 {{expects 'turned_k' of shape T,G,K = ?, 2, 3, but got ?, 2, 4}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary3_q_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x4xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+1 {{expects 'q' of shape T,G,K = ?, 2, 3, but got ?, 2, 4}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary4_k_g(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x3x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+2 {{expects 'k' of shape T,G,K = ?, 2, 3, but got ?, 3, 3}}
  // expected-note @+1 {{'k' has the extent of K where that of G belongs}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x3x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary5_v_rank(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x30xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+2 {{expects 'v' of shape T,H,V = ?, H, V, but got ?, 30}}
  // expected-note @+1 {{'v' has H and V as one dimension: a 'seq.reshape' splits it}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x30xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary6_dt_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x4xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+1 {{expects 'dt' of shape T,H = ?, 6, but got ?, 4}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary7_a_log_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<4xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+1 {{expects 'a_log' of shape H = 6, but got 4}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary8_dt_bias_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<4xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+1 {{expects 'dt_bias' of shape H = 6, but got 4}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<4xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary9_state_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x4x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 4, 5}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x4x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x4x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary10_sum_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x4xf32>) {
  // expected-error @+1 {{expects 'sum' of shape H,K = 6, 3, but got 6, 4}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x4xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x4xf32>)
  return
}

// -----

func.func @normalised_rotary11_y_v(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x9xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary13_eps_of_0(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+1 {{expects 'eps' finite and above 0, but got 0.000000e+00}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 0.0 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}

// -----

func.func @normalised_rotary12_groups_do_not_divide(%a0: tensor<?x4x3xf32>, %a1: tensor<?x4x3xf32>, %a2: tensor<?x4x3xf32>, %a3: tensor<?x4x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6xf32>, %a6: tensor<6xf32>, %a7: tensor<6xf32>, %a8: tensor<6x3x5xf32>, %a9: tensor<6x3xf32>) {
  // expected-error @+2 {{expects G to divide H = 6, but got 4}}
  // expected-note @+1 {{each group serves as many heads as any other; a projection of another width was perhaps taken}}
  %r:3 = "seq.normalised_rotary"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9) {eps = 1.0e-6 : f64}
      : (tensor<?x4x3xf32>, tensor<?x4x3xf32>, tensor<?x4x3xf32>, tensor<?x4x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
  return
}
