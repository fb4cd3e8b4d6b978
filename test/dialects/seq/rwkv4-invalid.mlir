// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @rwkv42_v_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x9xf32>, %a2: tensor<6x5xf32>, %a3: tensor<6x5xf32>, %a4: tensor<6x1x5xf32>, %a5: tensor<6x1x5xf32>, %a6: tensor<6x5xf32>) {
  // expected-error @+1 {{expects 'v' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:4 = "seq.rwkv4"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x5xf32>, tensor<?x6x9xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
  return
}

// -----

func.func @rwkv43_w_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<6x9xf32>, %a3: tensor<6x5xf32>, %a4: tensor<6x1x5xf32>, %a5: tensor<6x1x5xf32>, %a6: tensor<6x5xf32>) {
  // expected-error @+1 {{expects 'w' of shape H,V = 6, 5, but got 6, 9}}
  %r:4 = "seq.rwkv4"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x9xf32>, tensor<6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
  return
}

// -----

func.func @rwkv44_u_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<6x5xf32>, %a3: tensor<6x9xf32>, %a4: tensor<6x1x5xf32>, %a5: tensor<6x1x5xf32>, %a6: tensor<6x5xf32>) {
  // expected-error @+1 {{expects 'u' of shape H,V = 6, 5, but got 6, 9}}
  %r:4 = "seq.rwkv4"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x9xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
  return
}

// -----

func.func @rwkv45_state_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<6x5xf32>, %a3: tensor<6x5xf32>, %a4: tensor<6x1x9xf32>, %a5: tensor<6x1x5xf32>, %a6: tensor<6x5xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,1,V = 6, 1, 5, but got 6, 1, 9}}
  %r:4 = "seq.rwkv4"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x1x9xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x9xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
  return
}

// -----

func.func @rwkv46_sum_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<6x5xf32>, %a3: tensor<6x5xf32>, %a4: tensor<6x1x5xf32>, %a5: tensor<6x1x9xf32>, %a6: tensor<6x5xf32>) {
  // expected-error @+1 {{expects 'sum' of shape H,1,V = 6, 1, 5, but got 6, 1, 9}}
  %r:4 = "seq.rwkv4"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x9xf32>, tensor<6x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x9xf32>, tensor<6x5xf32>)
  return
}

// -----

func.func @rwkv47_maximum_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<6x5xf32>, %a3: tensor<6x5xf32>, %a4: tensor<6x1x5xf32>, %a5: tensor<6x1x5xf32>, %a6: tensor<6x9xf32>) {
  // expected-error @+1 {{expects 'maximum' of shape H,V = 6, 5, but got 6, 9}}
  %r:4 = "seq.rwkv4"(%a0, %a1, %a2, %a3, %a4, %a5, %a6)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x9xf32>)
  return
}
