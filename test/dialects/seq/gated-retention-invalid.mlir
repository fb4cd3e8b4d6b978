// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @gated_retention2_k_k(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x4xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,G,K = ?, 2, 3, but got ?, 2, 4}}
  %r:2 = "seq.gated_retention"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gated_retention4_gate_h(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x8xf32>, %a4: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'gate' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.gated_retention"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x8xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gated_retention5_state_v(%a0: tensor<?x2x3xf32>, %a1: tensor<?x2x3xf32>, %a2: tensor<?x6x5xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6x3x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 3, 9}}
  %r:2 = "seq.gated_retention"(%a0, %a1, %a2, %a3, %a4)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6x3x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x9xf32>)
  return
}

// -----

func.func @gated_retention8_temperature(%q: tensor<?x2x3xf32>, %k: tensor<?x2x3xf32>, %v: tensor<?x6x5xf32>, %a: tensor<?x6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'temperature' finite and above 0, but got 0.000000e+00}}
  %y, %next = seq.gated_retention %q, %k, %v, %a state(%s) {temperature = 0.0 : f64}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}
