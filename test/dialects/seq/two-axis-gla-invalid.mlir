// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @two_axis_gla2_k_k(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x4xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %r:2 = "seq.two_axis_gla"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x3xf32>, tensor<?x6x4xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @two_axis_gla3_v_h(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x8x5xf32>, %a3: tensor<?x6x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'v' of shape T,H,V = ?, 6, V, but got ?, 8, 5}}
  %r:2 = "seq.two_axis_gla"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x8x5xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @two_axis_gla4_key_gate_k(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6x4xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'key_gate' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %r:2 = "seq.two_axis_gla"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x4xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @two_axis_gla5_value_gate_v(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6x3xf32>, %a4: tensor<?x6x9xf32>, %a5: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'value_gate' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.two_axis_gla"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6x9xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @two_axis_gla6_state_v(%a0: tensor<?x6x3xf32>, %a1: tensor<?x6x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<6x3x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:2 = "seq.two_axis_gla"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x3x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x9xf32>)
  return
}
