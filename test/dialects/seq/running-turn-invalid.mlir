// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @running_turn1_angle_rank(%a0: tensor<?x30xf32>, %a1: tensor<6x1x5xf32>, %a2: tensor<6x1x5xf32>) {
  // expected-error @+2 {{expects 'angle' of shape T,H,V, but got ?, 30}}
  // expected-note @+1 {{'angle' has H and V as one dimension: a 'seq.reshape' splits it}}
  %r:3 = "seq.running_turn"(%a0, %a1, %a2)
      : (tensor<?x30xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @running_turn2_state_v(%a0: tensor<?x6x5xf32>, %a1: tensor<6x1x9xf32>, %a2: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,1,V = 6, 1, 5, but got 6, 1, 9}}
  %r:3 = "seq.running_turn"(%a0, %a1, %a2)
      : (tensor<?x6x5xf32>, tensor<6x1x9xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x9xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @running_turn3_state_imaginary_v(%a0: tensor<?x6x5xf32>, %a1: tensor<6x1x5xf32>, %a2: tensor<6x1x9xf32>) {
  // expected-error @+1 {{expects 'state_imaginary' of shape H,1,V = 6, 1, 5, but got 6, 1, 9}}
  %r:3 = "seq.running_turn"(%a0, %a1, %a2)
      : (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x9xf32>)
  return
}

// -----

func.func @running_turn4_y_v(%a0: tensor<?x6x5xf32>, %a1: tensor<6x1x5xf32>, %a2: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:3 = "seq.running_turn"(%a0, %a1, %a2)
      : (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x9xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @running_turn5_phase(%angle: tensor<?x6x5xf32>, %state: tensor<6x1x5xf32>, %state_im: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'phase' to be finite, but got 0x7FF0000000000000}}
  %y, %next:2 = seq.running_turn %angle state(%state, %state_im) {phase = 0x7FF0000000000000 : f64}
      : (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
  return
}
