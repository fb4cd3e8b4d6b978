// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @choose_blocks1_k_of_other_channels(%q: tensor<7x6x4xf32>, %k: tensor<7x2x5xf32>, %p: tensor<7xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,G,K = 7, G, 4, but got 7, 2, 5}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 2 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<7x2x5xi32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @choose_blocks1_positions_t(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<9xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+1 {{expects 'positions' of shape T = 7, but got 9}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 2 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<9xi32>, tensor<8x2x4xf32>) -> (tensor<7x2x5xi32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @choose_blocks2_sums_of_other_heads(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %s: tensor<8x3x4xf32>) {
  // expected-error @+1 {{expects 'sums' of shape L,G,K = L, 2, 4, but got 8, 3, 4}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 2 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x3x4xf32>) -> (tensor<7x2x5xi32>, tensor<8x3x4xf32>)
  return
}

// -----

func.func @choose_blocks2_next_sums(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+1 {{failed to verify that all of {sums, next_sums} have same type}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 2 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<7x2x5xi32>, tensor<9x2x4xf32>)
  return
}

// -----

func.func @choose_blocks3_groups_that_split_no_heads(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+1 {{expects M to divide H = 6 and to be a multiple of G = 2, but got 4}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 2 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<7x4x5xi32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @choose_blocks3_groups_of_several_keys(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+1 {{expects M to divide H = 6 and to be a multiple of G = 2, but got 3}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 2 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<7x3x5xi32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @choose_blocks3_chosen_t(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+1 {{expects 'chosen' of shape T,M,U = 7, M, U, but got 9, 2, 5}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 2 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<9x2x5xi32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @choose_blocks4_block(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+1 {{expects 'block' in 1..1073741824, but got 0}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 0 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 2 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<7x2x5xi32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @choose_blocks4_without_own(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+2 {{expects 'first' of at least 0 and 'last' of at least 1, together at most the 5 blocks of 'chosen', but got 1 and 0}}
  // expected-note @+1 {{the last block is the token's own}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 0 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<7x2x5xi32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @choose_blocks4_more_than_chosen(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+2 {{expects 'first' of at least 0 and 'last' of at least 1, together at most the 5 blocks of 'chosen', but got 3 and 3}}
  // expected-note @+1 {{the last block is the token's own}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>, first = 3 : i64, last = 3 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<7x2x5xi32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @choose_blocks5_scale(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %s: tensor<8x2x4xf32>) {
  // expected-error @+1 {{expects a finite 'scale', but got 0x7FF0000000000000}}
  %c, %n = "seq.choose_blocks"(%q, %k, %p, %s) {block = 16 : i64, scale = 0x7FF0000000000000 : f64, score = #seq.block_score<share>, first = 1 : i64, last = 2 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<7x2x5xi32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @block_mask1_keys_s(%s: tensor<6x7x5xf32>, %k: tensor<4xi32>, %c: tensor<7x2x3xi32>) {
  // expected-error @+1 {{expects 'keys' of shape S = 5, but got 4}}
  %y = "seq.block_mask"(%s, %k, %c) {block = 4 : i64}
      : (tensor<6x7x5xf32>, tensor<4xi32>, tensor<7x2x3xi32>) -> tensor<6x7x5xf32>
  return
}

// -----

func.func @block_mask1_groups(%s: tensor<6x7x5xf32>, %k: tensor<5xi32>, %c: tensor<7x4x3xi32>) {
  // expected-error @+1 {{expects M to divide H = 6, but got 4}}
  %y = "seq.block_mask"(%s, %k, %c) {block = 4 : i64}
      : (tensor<6x7x5xf32>, tensor<5xi32>, tensor<7x4x3xi32>) -> tensor<6x7x5xf32>
  return
}

// -----

func.func @block_mask2_block(%s: tensor<6x7x5xf32>, %k: tensor<5xi32>, %c: tensor<7x2x3xi32>) {
  // expected-error @+1 {{expects 'block' in 1..1073741824, but got 0}}
  %y = "seq.block_mask"(%s, %k, %c) {block = 0 : i64}
      : (tensor<6x7x5xf32>, tensor<5xi32>, tensor<7x2x3xi32>) -> tensor<6x7x5xf32>
  return
}

// -----

func.func @block_mask3_y(%s: tensor<6x7x5xf32>, %k: tensor<5xi32>, %c: tensor<7x2x3xi32>) {
  // expected-error @+1 {{failed to verify that all of {scores, y} have same type}}
  %y = "seq.block_mask"(%s, %k, %c) {block = 4 : i64}
      : (tensor<6x7x5xf32>, tensor<5xi32>, tensor<7x2x3xi32>) -> tensor<6x7x4xf32>
  return
}
