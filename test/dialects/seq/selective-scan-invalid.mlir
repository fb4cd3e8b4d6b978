// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @selective_scan2_dt_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x9xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'dt' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.selective_scan"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7)
      : (tensor<?x6x5xf32>, tensor<?x6x9xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @selective_scan4_c_k(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x4xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'c' of shape T,G,K = ?, 2, 3, but got ?, 2, 4}}
  %r:2 = "seq.selective_scan"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @selective_scan5_a_log_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<6x3x9xf32>, %a5: tensor<6x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'a_log' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:2 = "seq.selective_scan"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<6x3x9xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @selective_scan6_dt_bias_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x9xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'dt_bias' of shape H,V = 6, 5, but got 6, 9}}
  %r:2 = "seq.selective_scan"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<6x3x5xf32>, tensor<6x9xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @selective_scan7_d_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x5xf32>, %a6: tensor<6x9xf32>, %a7: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'd' of shape H,V = 6, 5, but got 6, 9}}
  %r:2 = "seq.selective_scan"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x9xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @selective_scan8_state_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<?x2x3xf32>, %a3: tensor<?x2x3xf32>, %a4: tensor<6x3x5xf32>, %a5: tensor<6x5xf32>, %a6: tensor<6x5xf32>, %a7: tensor<6x3x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:2 = "seq.selective_scan"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x3x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x9xf32>)
  return
}
