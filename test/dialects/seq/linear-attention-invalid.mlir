// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @linear_attention2_k_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x4xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,G,K = ?, 2, 3, but got ?, 2, 4}}
  %r:2 = "seq.linear_attention"(%a0, %a1, %a2, %a3)
      : (tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @linear_attention4_state_v(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<6x3x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:2 = "seq.linear_attention"(%a0, %a1, %a2, %a3)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<6x3x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x9xf32>)
  return
}
