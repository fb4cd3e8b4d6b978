// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @hgrn22_forget_k(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x4xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<6x3xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'forget' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %r:2 = "seq.hgrn2"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x6x3xf32>, tensor<?x6x4xf32>, tensor<?x6x5xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @hgrn23_v_h(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x8x5xf32>, %a3: tensor<6x3xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'v' of shape T,H,V = ?, 6, V, but got ?, 8, 5}}
  %r:2 = "seq.hgrn2"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x8x5xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @hgrn24_lower_bound_k(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<6x4xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'lower_bound' of shape H,K = 6, 3, but got 6, 4}}
  %r:2 = "seq.hgrn2"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x4xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @hgrn25_state_v(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<6x3xf32>, %a4: tensor<6x3x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:2 = "seq.hgrn2"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x3xf32>, tensor<6x3x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x9xf32>)
  return
}
