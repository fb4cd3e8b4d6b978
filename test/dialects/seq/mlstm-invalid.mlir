// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @mlstm2_k_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x4xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x3xf32>, %a7: tensor<6xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,G,K = ?, 2, 3, but got ?, 2, 4}}
  %r:4 = "seq.mlstm"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) {eps = 1.0e-06 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>)
  return
}

// -----

func.func @mlstm4_input_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x8xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x3xf32>, %a7: tensor<6xf32>) {
  // expected-error @+1 {{expects 'input' of shape T,H = ?, 6, but got ?, 8}}
  %r:4 = "seq.mlstm"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) {eps = 1.0e-06 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>)
  return
}

// -----

func.func @mlstm5_forget_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x8xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x3xf32>, %a7: tensor<6xf32>) {
  // expected-error @+1 {{expects 'forget' of shape T,H = ?, 6, but got ?, 8}}
  %r:4 = "seq.mlstm"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) {eps = 1.0e-06 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>)
  return
}

// -----

func.func @mlstm6_state_v(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6x3x9xf32>, %a6: tensor<6x3xf32>, %a7: tensor<6xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:4 = "seq.mlstm"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) {eps = 1.0e-06 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6x3x9xf32>, tensor<6x3xf32>, tensor<6xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x9xf32>, tensor<6x3xf32>, tensor<6xf32>)
  return
}

// -----

func.func @mlstm7_sum_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x4xf32>, %a7: tensor<6xf32>) {
  // expected-error @+1 {{expects 'sum' of shape H,K = 6, 3, but got 6, 4}}
  %r:4 = "seq.mlstm"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) {eps = 1.0e-06 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>, tensor<6x4xf32>, tensor<6xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x4xf32>, tensor<6xf32>)
  return
}

// -----

func.func @mlstm8_maximum_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6x3x5xf32>, %a6: tensor<6x3xf32>, %a7: tensor<8xf32>) {
  // expected-error @+1 {{expects 'maximum' of shape H = 6, but got 8}}
  %r:4 = "seq.mlstm"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) {eps = 1.0e-06 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<8xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<8xf32>)
  return
}
