// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @structured_recurrence2_source_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x8xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'source' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence3_target_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x8xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'target' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence4_bias_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x8xf32>, %a4: tensor<6xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'bias' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence5_log_decay_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<8xf32>, %a5: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'log_decay' of shape H = 6, but got 8}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<8xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence6_state_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<6xf32>, %a5: tensor<6x1x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,1,V = 6, 1, 5, but got 6, 1, 9}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5)
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x9xf32>)
  return
}
