// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @dynamic_mask_linear1_q_rank(%a0: tensor<?x6xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'q' of shape T,G,K, but got ?, 6}}
  // expected-note @+1 {{'q' has G and K as one dimension: a 'seq.reshape' splits it}}
  %r:2 = "seq.dynamic_mask_linear"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @dynamic_mask_linear2_k_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x4xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,G,K = ?, 2, 3, but got ?, 2, 4}}
  %r:2 = "seq.dynamic_mask_linear"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @dynamic_mask_linear3_v_rank(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x30xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'v' of shape T,H,V = ?, H, V, but got ?, 30}}
  // expected-note @+1 {{'v' has H and V as one dimension: a 'seq.reshape' splits it}}
  %r:2 = "seq.dynamic_mask_linear"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x30xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @dynamic_mask_linear4_delta_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x4xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'delta' of shape T,H = ?, 6, but got ?, 4}}
  %r:2 = "seq.dynamic_mask_linear"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x4xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @dynamic_mask_linear5_state_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6x4x5xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 4, 5}}
  %r:2 = "seq.dynamic_mask_linear"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6x4x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x4x5xf32>)
  return
}

// -----

func.func @dynamic_mask_linear6_y_v(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.dynamic_mask_linear"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x9xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @dynamic_mask_linear7_groups_do_not_divide(%a0: tensor<?x4x3xf32>, %a1: tensor<?x4x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects G to divide H = 6, but got 4}}
  // expected-note @+1 {{each group serves as many heads as any other; a projection of another width was perhaps taken}}
  %r:2 = "seq.dynamic_mask_linear"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x4x3xf32>, tensor<?x4x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}
