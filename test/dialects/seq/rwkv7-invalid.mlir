// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @rwkv72_w_k(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x4xf32>, %a2: tensor<?x6x3xf32>, %a3: tensor<?x6x5xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'w' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %r:2 = "seq.rwkv7"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x3xf32>, tensor<?x6x4xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @rwkv73_k_k(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x4xf32>, %a3: tensor<?x6x5xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %r:2 = "seq.rwkv7"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x4xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @rwkv74_v_h(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x3xf32>, %a3: tensor<?x8x5xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'v' of shape T,H,V = ?, 6, V, but got ?, 8, 5}}
  %r:2 = "seq.rwkv7"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x8x5xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @rwkv75_kk_k(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x3xf32>, %a3: tensor<?x6x5xf32>, %a4: tensor<?x6x4xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'kk' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %r:2 = "seq.rwkv7"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x4xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @rwkv76_a_k(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x3xf32>, %a3: tensor<?x6x5xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x4xf32>, %a6: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'a' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %r:2 = "seq.rwkv7"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6x4xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @rwkv77_state_v(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x3xf32>, %a3: tensor<?x6x5xf32>, %a4: tensor<?x6x3xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6x3x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:2 = "seq.rwkv7"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<6x3x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x9xf32>)
  return
}
