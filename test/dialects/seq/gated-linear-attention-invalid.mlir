// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @gla2_keys(%q: tensor<?x6x3xf32>, %k: tensor<?x6x4xf32>, %v: tensor<?x6x5xf32>, %a: tensor<?x6x3xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,H,K = ?, 6, 3, but got ?, 6, 4}}
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%a) state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x4xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gla3_heads(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x8x5xf32>, %a: tensor<?x6x3xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'v' of shape T,H,V = ?, 6, V, but got ?, 8, 5}}
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%a) state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x8x5xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gla4_value_channels(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %a: tensor<?x6x5xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'key_gate' of shape T,H,K = ?, 6, 3, but got ?, 6, 5}}
  // expected-note @+1 {{'key_gate' has the extent of V where that of K belongs}}
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%a) state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gla5_key_channels(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %b: tensor<?x6x3xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'value_gate' of shape T,H,V = ?, 6, 5, but got ?, 6, 3}}
  // expected-note @+1 {{'value_gate' has the extent of K where that of V belongs}}
  %y, %next = seq.gated_linear_attention %q, %k, %v value_gate(%b) state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gla6_transposed(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %a: tensor<?x6x3xf32>, %s: tensor<6x5x3xf32>) {
  // expected-error @+2 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 5, 3}}
  // expected-note @+1 {{'state' looks transposed: its K and V are exchanged}}
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%a) state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6x5x3xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x5x3xf32>)
  return
}

// -----

func.func @gla7_result(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %a: tensor<?x6x3xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'y' of shape T,H,V = ?, 6, 5, but got ?, 6, 3}}
  // expected-note @+1 {{'y' has the extent of K where that of V belongs}}
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%a) state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x3xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gla8_no_gate(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'key_gate', 'value_gate' or both, but got neither}}
  %y, %next = seq.gated_linear_attention %q, %k, %v state(%s)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @gla9_temperature(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %a: tensor<?x6x3xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'temperature' finite and above 0, but got 0.000000e+00}}
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%a) state(%s) {temperature = 0.0 : f64}
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return
}
