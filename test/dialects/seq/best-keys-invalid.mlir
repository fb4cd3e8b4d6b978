// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @count_better1_other_heads(%d: tensor<5x2xf32>, %pk: tensor<5xi32>, %e: tensor<3x4xf32>, %pe: tensor<3xi32>, %pq: tensor<7xi32>) {
  // expected-error @+1 {{expects 'others' of shape U,N = U, 2, but got 3, 4}}
  %ranks = seq.count_better %d at(%pk) among %e at(%pe) queries(%pq)
      : (tensor<5x2xf32>, tensor<5xi32>, tensor<3x4xf32>, tensor<3xi32>, tensor<7xi32>) -> tensor<2x7x5xf32>
  return
}

// -----

func.func @count_better2_no_window(%d: tensor<5x2xf32>, %pk: tensor<5xi32>, %e: tensor<3x2xf32>, %pe: tensor<3xi32>, %pq: tensor<7xi32>) {
  // expected-error @+1 {{expects 'window' of at least 1, but got 0}}
  %ranks = seq.count_better %d at(%pk) among %e at(%pe) queries(%pq) {window = 0 : i64}
      : (tensor<5x2xf32>, tensor<5xi32>, tensor<3x2xf32>, tensor<3xi32>, tensor<7xi32>) -> tensor<2x7x5xf32>
  return
}

// -----

func.func @keep_best1_heads_do_not_divide(%scores: tensor<6x7x5xf32>, %ranks: tensor<4x7x5xf32>) {
  // expected-error @+1 {{expects N to divide H = 6, but got 4}}
  %y = seq.keep_best %scores, %ranks {keep = 3 : i64} : tensor<6x7x5xf32>, tensor<4x7x5xf32>
  return
}

// -----

func.func @keep_best2_none(%scores: tensor<6x7x5xf32>, %ranks: tensor<2x7x5xf32>) {
  // expected-error @+1 {{expects 'keep' of at least 1, but got 0}}
  %y = seq.keep_best %scores, %ranks {keep = 0 : i64} : tensor<6x7x5xf32>, tensor<2x7x5xf32>
  return
}

// -----

func.func @keep_best3_result_of_other_type(%scores: tensor<6x7x5xf32>, %ranks: tensor<2x7x5xf32>) {
  // expected-error @+1 {{failed to verify that all of {scores, y} have same type}}
  %y = "seq.keep_best"(%scores, %ranks) {keep = 3 : i64} : (tensor<6x7x5xf32>, tensor<2x7x5xf32>) -> tensor<6x5x7xf32>
  return
}

// -----

func.func @count_better3_passed_by_none(%d: tensor<5x2xf32>, %pk: tensor<5xi32>, %e: tensor<3x2xf32>, %pe: tensor<3xi32>, %pq: tensor<7xi32>) {
  // expected-error @+1 {{expects a 'window' that has 'passed' the others}}
  %ranks = seq.count_better %d at(%pk) among %e at(%pe) queries(%pq) passed
      : (tensor<5x2xf32>, tensor<5xi32>, tensor<3x2xf32>, tensor<3xi32>, tensor<7xi32>) -> tensor<2x7x5xf32>
  return
}
