// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @ring_positions1_dynamic_ring(%p: tensor<7xi32>) {
  // expected-error @+1 {{expects 'y' with a static W, but got 'tensor<?xi32>'}}
  %held = seq.ring_positions %p : tensor<7xi32> -> tensor<?xi32>
  return
}

// -----

func.func @ring_write1_row_of_other_shape(%x: tensor<7x3x2xf32>, %p: tensor<7xi32>, %ring: tensor<5x2x3xf32>) {
  // expected-error @+1 {{expects 'x' of shape T,... = 7, 2, 3, but got 7, 3, 2}}
  %next = seq.ring_write %x at(%p) into(%ring) : tensor<7x3x2xf32>, tensor<7xi32>, tensor<5x2x3xf32>
  return
}

// -----

func.func @ring_write2_next_of_other_rows(%x: tensor<7x2xf32>, %p: tensor<7xi32>, %ring: tensor<5x2xf32>) {
  // expected-error @+1 {{failed to verify that all of {ring, next} have same type}}
  %next = "seq.ring_write"(%x, %p, %ring) : (tensor<7x2xf32>, tensor<7xi32>, tensor<5x2xf32>) -> tensor<6x2xf32>
  return
}

// -----

func.func @window_mask1_keys_before_queries(%s: tensor<2x5x7xf32>, %pq: tensor<7xi32>, %pk: tensor<5xi32>) {
  // expected-error @+1 {{expects 'scores' of shape ...,T,S with T,S = 7, 5, but got 2, 5, 7}}
  %y = seq.window_mask %s queries(%pq) keys(%pk) : tensor<2x5x7xf32>, tensor<7xi32>, tensor<5xi32>
  return
}

// -----

func.func @window_mask2_window_of_none(%s: tensor<7x5xf32>, %pq: tensor<7xi32>, %pk: tensor<5xi32>) {
  // expected-error @+1 {{expects 'window' of at least 1, but got 0}}
  %y = seq.window_mask %s queries(%pq) keys(%pk) {window = 0 : i64} : tensor<7x5xf32>, tensor<7xi32>, tensor<5xi32>
  return
}

// -----

func.func @window_mask3_result_of_other_type(%s: tensor<7x5xf32>, %pq: tensor<7xi32>, %pk: tensor<5xi32>) {
  // expected-error @+1 {{failed to verify that all of {scores, y} have same type}}
  %y = "seq.window_mask"(%s, %pq, %pk) : (tensor<7x5xf32>, tensor<7xi32>, tensor<5xi32>) -> tensor<5x7xf32>
  return
}

// -----

func.func @distances1_keys_first(%pq: tensor<7xi32>, %pk: tensor<5xi32>) {
  // expected-error @+2 {{expects 'y' of shape T,S = 7, 5, but got 5, 7}}
  // expected-note @+1 {{}}
  %far = seq.distances %pq, %pk : (tensor<7xi32>, tensor<5xi32>) -> tensor<5x7xf32>
  return
}

// -----

func.func @key_numbers1_heads_do_not_divide(%s: tensor<6x7x5xf32>, %d: tensor<5x4xf32>) {
  // expected-error @+1 {{expects N to divide H = 6, but got 4}}
  %y = seq.key_numbers <scale> %s, %d : tensor<6x7x5xf32>, tensor<5x4xf32>
  return
}

// -----

func.func @key_numbers2_of_no_kind(%s: tensor<6x7x5xf32>, %d: tensor<5x2xf32>) {
  // expected-error @+1 {{expects a kind other than 'none'}}
  %y = seq.key_numbers <none> %s, %d : tensor<6x7x5xf32>, tensor<5x2xf32>
  return
}

// -----

func.func @key_numbers3_result_of_other_type(%s: tensor<6x7x5xf32>, %d: tensor<5x2xf32>) {
  // expected-error @+1 {{failed to verify that all of {scores, y} have same type}}
  %y = "seq.key_numbers"(%s, %d) {kind = #seq.key_score<bias>} : (tensor<6x7x5xf32>, tensor<5x2xf32>) -> tensor<6x5x7xf32>
  return
}

// -----

func.func @at_start1_other_count(%p: tensor<7xi32>) {
  // expected-error @+1 {{expects 'y' of shape T = 7, but got 5}}
  %first = seq.at_start %p : tensor<7xi32> -> tensor<5xf32>
  return
}

// -----

func.func @window_mask4_passed_by_none(%s: tensor<7x5xf32>, %pq: tensor<7xi32>, %pk: tensor<5xi32>) {
  // expected-error @+1 {{expects a 'window' that has 'passed' the keys}}
  %y = seq.window_mask %s queries(%pq) keys(%pk) passed : tensor<7x5xf32>, tensor<7xi32>, tensor<5xi32>
  return
}

// -----

func.func @distances2_before_the_start(%pq: tensor<7xi32>, %pk: tensor<5xi32>) {
  // expected-error @+1 {{expects 'last' of at least 0, but got -1}}
  %far = seq.distances %pq, %pk {last = -1 : i64} : (tensor<7xi32>, tensor<5xi32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @ring_row1_other_count(%p: tensor<7xi32>) {
  // expected-error @+1 {{expects 'y' of shape T,W = 7, W, but got 5, 4}}
  %row = seq.ring_row %p : tensor<7xi32> -> tensor<5x4xf32>
  return
}
