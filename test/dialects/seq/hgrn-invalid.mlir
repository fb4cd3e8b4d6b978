// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @hgrn2_forget_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x9xf32>, %a2: tensor<6x5xf32>, %a3: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'forget' of shape T,H,V = ?, 6, 5, but got ?, 6, 9}}
  %r:2 = "seq.hgrn"(%a0, %a1, %a2, %a3)
      : (tensor<?x6x5xf32>, tensor<?x6x9xf32>, tensor<6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @hgrn3_lower_bound_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<6x9xf32>, %a3: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects 'lower_bound' of shape H,V = 6, 5, but got 6, 9}}
  %r:2 = "seq.hgrn"(%a0, %a1, %a2, %a3)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x9xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return
}

// -----

func.func @hgrn4_state_v(%a0: tensor<?x6x5xf32>, %a1: tensor<?x6x5xf32>, %a2: tensor<6x5xf32>, %a3: tensor<6x1x9xf32>) {
  // expected-error @+1 {{expects 'state' of shape H,1,V = 6, 1, 5, but got 6, 1, 9}}
  %r:2 = "seq.hgrn"(%a0, %a1, %a2, %a3)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x1x9xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x9xf32>)
  return
}
