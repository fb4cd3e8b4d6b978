// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @trapezoidal_ssd1_x_rank(%a0: tensor<?x30xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,H,V, but got ?, 30}}
  // expected-note @+1 {{'x' has H and V as one dimension: a 'seq.reshape' splits it}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x30xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd2_dt_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x8xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'dt' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd3_rate_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x8xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'rate' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd4_share_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x8xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'share' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd5_b_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x8x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'b' of shape T,H,K = ?, 6, K, but got ?, 8, 3}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x8x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd6_c_k(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x4xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'c' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x4xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd7_x_before_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x9xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'x_before' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x9xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd8_b_before_k(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x4xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'b_before' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x4xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd9_written_before_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x8xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'written_before' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x8xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd10_d_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<8xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'd' of shape H = 6, but got 8}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<8xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @trapezoidal_ssd11_state_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x9xf32>)
  return
}

// -----

func.func @trapezoidal_ssd12_y_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<?x6x5xf32>, %a7: tensor<?x6x3xf32>, %a8: tensor<?x6xf32>, %a9: tensor<6xf32>, %a10: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.trapezoidal_ssd"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x9xf32>, tensor<6x3x5xf32>)
  return
}
