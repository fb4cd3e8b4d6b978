// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @gated_erase2_k_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x4xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6xf32>, %a7: tensor<6x3xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,G,K = ?, 2, 3, but got ?, 2, 4}}
  %r:2 = "seq.gated_delta_rule_2"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gated_erase4_erase_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x2x4xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6xf32>, %a7: tensor<6x3xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'erase' of shape T,G,K = ?, 2, 3, but got ?, 2, 4}}
  %r:2 = "seq.gated_delta_rule_2"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x2x4xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gated_erase5_write_v(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x7xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6xf32>, %a7: tensor<6x3xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'write' of shape T,H,V = ?, 6, 5, but got ?, 6, 7}}
  %r:2 = "seq.gated_delta_rule_2"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x6x7xf32>, tensor<?x6x3xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gated_erase6_f_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x8x3xf32>, %a6: tensor<6xf32>, %a7: tensor<6x3xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'f' of shape T,H,K = ?, 6, 3, but got ?, 8, 3}}
  %r:2 = "seq.gated_delta_rule_2"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x8x3xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gated_erase7_a_log_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<8xf32>, %a7: tensor<6x3xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'a_log' of shape H = 6, but got 8}}
  %r:2 = "seq.gated_delta_rule_2"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<8xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gated_erase8_dt_bias_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6xf32>, %a7: tensor<6x4xf32>, %a8: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'dt_bias' of shape H,K = 6, 3, but got 6, 4}}
  %r:2 = "seq.gated_delta_rule_2"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6xf32>, tensor<6x4xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gated_erase9_state_v(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<?x6x5xf32>, %a5: tensor<?x6x3xf32>, %a6: tensor<6xf32>, %a7: tensor<6x3xf32>, %a8: tensor<6x3x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:2 = "seq.gated_delta_rule_2"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6x3x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x9xf32>)
  return
}
