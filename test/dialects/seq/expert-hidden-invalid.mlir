// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @expert_hidden1_other_rows(%x: tensor<?x5xf32>, %w: tensor<?x3xf32>, %r: tensor<?x4xi32>, %t: tensor<44x5xf32>) {
  // expected-error @+1 {{expects 'rows' of shape T,J = ?, 3, but got ?, 4}}
  %h = seq.expert_hidden %x, %w, %r, %t {nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x4xi32>, tensor<44x5xf32>) -> tensor<?x3x2xf32>
  return
}

// -----

func.func @expert_hidden2_table_of_other_channels(%x: tensor<?x5xf32>, %w: tensor<?x3xf32>, %r: tensor<?x3xi32>, %t: tensor<44x6xf32>) {
  // expected-error @+1 {{expects 'table' of shape N,D = N, 5, but got 44, 6}}
  %h = seq.expert_hidden %x, %w, %r, %t {nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<44x6xf32>) -> tensor<?x3x2xf32>
  return
}

// -----

func.func @expert_hidden3_hidden_of_other_choices(%x: tensor<?x5xf32>, %w: tensor<?x3xf32>, %r: tensor<?x3xi32>, %t: tensor<44x5xf32>) {
  // expected-error @+1 {{expects 'hidden' of shape T,J,F = ?, 3, F, but got ?, 4, 2}}
  %h = seq.expert_hidden %x, %w, %r, %t {nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<44x5xf32>) -> tensor<?x4x2xf32>
  return
}

// -----

func.func @expert_hidden3_partial_expert(%x: tensor<?x5xf32>, %w: tensor<?x3xf32>, %r: tensor<?x3xi32>, %t: tensor<44x5xf32>) {
  // expected-error @+1 {{expects an expert's rows to divide the 44 rows of 'table', but got 6}}
  %h = seq.expert_hidden %x, %w, %r, %t {gated, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<44x5xf32>) -> tensor<?x3x3xf32>
  return
}

// -----

func.func @expert_hidden4_gated_and_inside(%x: tensor<?x5xf32>, %w: tensor<?x3xf32>, %r: tensor<?x3xi32>, %t: tensor<44x5xf32>) {
  // expected-error @+1 {{expects 'gated' or 'weight_inside', but got both}}
  %h = seq.expert_hidden %x, %w, %r, %t {gated, nonlinearity = #seq.nonlinearity<silu>, weight_inside} : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<44x5xf32>) -> tensor<?x3x2xf32>
  return
}
