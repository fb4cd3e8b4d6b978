// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @running_total1_x_rank(%x: tensor<?x30xf32>, %state: tensor<6x1x5xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,H,V, but got ?, 30}}
  // expected-note @+1 {{'x' has H and V as one dimension: a 'seq.reshape' splits it}}
  %r:2 = "seq.running_total"(%x, %state) : (tensor<?x30xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @running_total2_state_v(%x: tensor<?x6x5xf32>, %state: tensor<6x1x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,1,V = 6, 1, 5, but got 6, 1, 9}}
  %r:2 = "seq.running_total"(%x, %state) : (tensor<?x6x5xf32>, tensor<6x1x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x9xf32>)
  return
}

// -----

func.func @running_total3_y_v(%x: tensor<?x6x5xf32>, %state: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.running_total"(%x, %state) : (tensor<?x6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x9xf32>, tensor<6x1x5xf32>)
  return
}
