// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @reduce1_axis_past_the_last(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'axis' in [0, 2), but got 2}}
  %y = seq.reduce sum %x {axis = 2 : i64} : tensor<?x6xf32> -> tensor<?xf32>
  return
}

// -----

func.func @reduce1_over_dynamic_rows(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects a static extent on axis 0, but got 'tensor<?x6xf32>'}}
  %y = seq.reduce max %x {axis = 0 : i64} : tensor<?x6xf32> -> tensor<6xf32>
  return
}

// -----

func.func @reduce2_axis_kept(%x: tensor<?x6x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape ?, 5, but got ?, 6}}
  %y = seq.reduce sum %x {axis = 1 : i64} : tensor<?x6x5xf32> -> tensor<?x6xf32>
  return
}
