// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @routed1_x_of_three(%x: tensor<?x5x2xf32>, %l: tensor<?x7xf32>, %g: tensor<42x5xf32>, %d: tensor<35x3xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,D, but got ?, 5, 2}}
  // expected-note @+1 {{'x' has two dimensions for D: a 'seq.reshape' makes them one}}
  %y = seq.routed_experts %x, %l parameters(%g, %d) {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5x2xf32>, tensor<?x7xf32>), (tensor<42x5xf32>, tensor<35x3xf32>)
  return
}

// -----

func.func @routed2_logits_of_one(%x: tensor<?x5xf32>, %l: tensor<?xf32>, %g: tensor<42x5xf32>, %d: tensor<35x3xf32>) {
  // expected-error @+1 {{expects 'logits' of shape T,E = ?, E, but got ?}}
  %y = seq.routed_experts %x, %l parameters(%g, %d) {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?xf32>), (tensor<42x5xf32>, tensor<35x3xf32>)
  return
}

// -----

func.func @routed3_gates_without_ups(%x: tensor<?x5xf32>, %l: tensor<?x7xf32>, %g: tensor<21x5xf32>, %d: tensor<35x3xf32>) {
  // expected-error @+1 {{expects 'gate_up' of shape G,D = 42, 5, but got 21, 5}}
  %y = seq.routed_experts %x, %l parameters(%g, %d) {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x7xf32>), (tensor<21x5xf32>, tensor<35x3xf32>)
  return
}

// -----

func.func @routed4_other_experts(%x: tensor<?x5xf32>, %l: tensor<?x7xf32>, %g: tensor<42x5xf32>, %d: tensor<30x3xf32>) {
  // expected-error @+1 {{expects 'down' of shape O,F = 35, 3, but got 30, 3}}
  %y = seq.routed_experts %x, %l parameters(%g, %d) {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x7xf32>), (tensor<42x5xf32>, tensor<30x3xf32>)
  return
}

// -----

func.func @routed5_more_than_experts(%x: tensor<?x5xf32>, %l: tensor<?x7xf32>, %g: tensor<42x5xf32>, %d: tensor<35x3xf32>) {
  // expected-error @+1 {{expects 'top_k' from 1 to E = 7, but got 8}}
  %y = seq.routed_experts %x, %l parameters(%g, %d) {top_k = 8 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x7xf32>), (tensor<42x5xf32>, tensor<35x3xf32>)
  return
}

// -----

func.func @routed6_order_of_others(%x: tensor<?x5xf32>, %l: tensor<?x7xf32>, %o: tensor<?x6xf32>, %g: tensor<42x5xf32>, %d: tensor<35x3xf32>) {
  // expected-error @+1 {{expects 'order' of the type of 'logits', 'tensor<?x7xf32>', but got 'tensor<?x6xf32>'}}
  %y = seq.routed_experts %x, %l order(%o : tensor<?x6xf32>) parameters(%g, %d) {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x7xf32>), (tensor<42x5xf32>, tensor<35x3xf32>)
  return
}
