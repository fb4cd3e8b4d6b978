// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @structured_recurrence1_x_rank(%a0: tensor<?x30xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6xf32>, %a6: tensor<6x1x5xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,H,V, but got ?, 30}}
  // expected-note @+1 {{'x' has H and V as one dimension: a 'seq.reshape' splits it}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5, %a6) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}
      : (tensor<?x30xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence2_source_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x8xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6xf32>, %a6: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'source' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5, %a6) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}
      : (tensor<?x6x5xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence3_target_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x8xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6xf32>, %a6: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'target' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5, %a6) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence4_bias_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x8xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6xf32>, %a6: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'bias' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5, %a6) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence5_diagonal_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x8xf32>, %a5: tensor<6xf32>, %a6: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'diagonal' of shape T,H = ?, 6, but got ?, 8}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5, %a6) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence6_log_decay_h(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<8xf32>, %a6: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'log_decay' of shape H = 6, but got 8}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5, %a6) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<8xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence7_state_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6xf32>, %a6: tensor<6x1x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,1,V = 6, 1, 5, but got 6, 1, 9}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5, %a6) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x9xf32>)
  return
}

// -----

func.func @structured_recurrence8_y_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6xf32>, %a2: tensor<?x6xf32>, %a3: tensor<?x6xf32>, %a4: tensor<?x6xf32>, %a5: tensor<6xf32>, %a6: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.structured_recurrence"(%a0, %a1, %a2, %a3, %a4, %a5, %a6) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x9xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence9_root_without_decay(%x: tensor<?x6x5xf32>, %s: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects a 'log_decay' beside 'root', but got none}}
  %y, %next = seq.structured_recurrence %x state(%s) {root = 2 : i64}
      : (tensor<?x6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @structured_recurrence9_root_of_0(%x: tensor<?x6x5xf32>, %d: tensor<6xf32>, %s: tensor<6x1x5xf32>) {
  // expected-error @+2 {{expects 'root' of at least 1, but got 0}}
  // expected-note @+1 {{the public model divides the longest context by 512, which rounds to 0 below that}}
  %y, %next = seq.structured_recurrence %x decay(%d) state(%s) {root = 0 : i64}
      : (tensor<?x6x5xf32>, tensor<6xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}
