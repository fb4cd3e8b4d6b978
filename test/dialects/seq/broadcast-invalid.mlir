// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. The generic form is used
// where the syntax allows no such mistake.

func.func @broadcast1_too_many(%x: tensor<6xf32>, %l: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'dimensions' to be 1 increasing axes in [0, 2), but got [0, 1]}}
  %y = seq.broadcast %x along %l {dimensions = array<i64: 0, 1>}
      : tensor<6xf32>, tensor<?x6xf32>
  return
}

// -----

func.func @broadcast1_not_increasing(%x: tensor<5x6xf32>, %l: tensor<6x5xf32>) {
  // expected-error @+1 {{expects 'dimensions' to be 2 increasing axes in [0, 2), but got [1, 0]}}
  %y = seq.broadcast %x along %l {dimensions = array<i64: 1, 0>}
      : tensor<5x6xf32>, tensor<6x5xf32>
  return
}

// -----

func.func @broadcast1_twice(%x: tensor<6x6xf32>, %l: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'dimensions' to be 2 increasing axes in [0, 2), but got [1, 1]}}
  %y = seq.broadcast %x along %l {dimensions = array<i64: 1, 1>}
      : tensor<6x6xf32>, tensor<?x6xf32>
  return
}

// -----

func.func @broadcast1_past_the_last(%x: tensor<6xf32>, %l: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'dimensions' to be 1 increasing axes in [0, 2), but got [2]}}
  %y = seq.broadcast %x along %l {dimensions = array<i64: 2>}
      : tensor<6xf32>, tensor<?x6xf32>
  return
}

// -----

func.func @broadcast2_other_extent(%x: tensor<5xf32>, %l: tensor<?x6xf32>) {
  // expected-error @+1 {{expects 'x' of shape 6, but got 5}}
  %y = seq.broadcast %x along %l {dimensions = array<i64: 1>}
      : tensor<5xf32>, tensor<?x6xf32>
  return
}

// -----

func.func @broadcast3_result_of_other_type(%x: tensor<6xf32>, %l: tensor<?x6xf32>) {
  // expected-error @+1 {{failed to verify that all of {like, y} have same type}}
  %y = "seq.broadcast"(%x, %l) <{dimensions = array<i64: 1>}>
      : (tensor<6xf32>, tensor<?x6xf32>) -> tensor<5x6xf32>
  return
}
