// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. T,H,G,J,K,V,W = 7,6,2,3,4,5,8
// where nothing else is broken, with J = 2.

func.func @att1_query_not_split_into_heads(
    %q: tensor<7x24xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+2 {{expects 'q' of shape T,H,K, but got 7, 24}}
  // expected-note @+1 {{'q' lacks the leading T of tokens}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x24xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att1_key_of_other_channels(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x3xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'k' of shape T,G,K = 7, G, 4, but got 7, 2, 3}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x3xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att1_result_of_other_heads(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = 7, 6, 5, but got 7, 2, 5}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x2x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att2_key_heads_do_not_divide(
    %q: tensor<7x6x4xf32>, %k: tensor<7x4x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x4x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+2 {{expects G to divide H = 6, but got 4}}
  // expected-note @+1 {{each key head serves as many heads as any other; a projection of another width was perhaps taken}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x4x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x4x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x4x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att2_neither_divides_the_other(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x3x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x3x5xf32>) {
  // expected-error @+1 {{expects G and J of which one divides the other, but got 2 and 3}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x3x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x3x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x3x5xf32>)
  return
}

// -----

func.func @att3_position_per_key(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<8xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'positions' of shape T = 7, but got 8}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<8xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att4_values_of_other_rows(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<9x2x5xf32>) {
  // expected-error @+1 {{expects 'values' of shape W,J,V = 8, 2, 5, but got 9, 2, 5}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<9x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<9x2x5xf32>)
  return
}

// -----

func.func @att5_window_of_none(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+2 {{expects 'window' in 1..8, the W of 'keys', but got 0}}
  // expected-note @+1 {{W counts the query's own key; a window that is given as a distance has one key more}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 0 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att5_window_past_the_ring(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+2 {{expects 'window' in 1..8, the W of 'keys', but got 9}}
  // expected-note @+1 {{W counts the query's own key; a window that is given as a distance has one key more}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 9 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att6_sink_per_key_head(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %h: tensor<2xf32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'sinks' of shape H = 6, but got 2}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) sinks(%h) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<2xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att7_kind_without_numbers(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'd' and 'key_scores' both present for the key score 'scale', but got 0 of them}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64, key_score = #seq.key_score<scale>}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att7_numbers_without_kind(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %h: tensor<7x2xf32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'd' and 'key_scores' both absent for the key score 'none', but got 1 of them}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) numbers(%h) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x2xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att8_scale_without_end(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects a finite 'scale', but got 0x7FF0000000000000 : f64}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0x7FF0000000000000 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att8_cap_of_zero(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects a finite 'soft_cap' above 0, but got 0.000000e+00 : f64}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64, soft_cap = 0.0 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att9_keep_without_numbers(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'keep' of at least 1 beside a number per key, but got 3 without one}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64, keep = 3 : i64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att4_next_of_other_rows(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects state operand #4 and result #1 of type 'tensor<8x2x4xf32>', but got 'tensor<8x2x4xf32>' and 'tensor<7x2x4xf32>'}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<7x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att10_first_tokens_without_a_query(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>, %sq: tensor<7x6x4xf32>, %fk: tensor<3x2x4xf32>, %fv: tensor<3x2x5xf32>) {
  // expected-error @+1 {{expects 'sink_query', 'sink_keys' and 'sink_values' all present or all absent, but got 2 of them}}
  %y, %a, %b, %c, %d = seq.attention %q, %k, %v positions(%p) states(%keys, %values) sink_states(%fk, %fv) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>)
  return
}

// -----

func.func @att10_a_query_without_first_tokens(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>, %sq: tensor<7x6x4xf32>, %fk: tensor<3x2x4xf32>, %fv: tensor<3x2x5xf32>) {
  // expected-error @+1 {{expects 'sink_query', 'sink_keys' and 'sink_values' all present or all absent, but got 1 of them}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) sink_query(%sq) states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x6x4xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att10_first_tokens_without_a_window(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>, %sq: tensor<7x6x4xf32>, %fk: tensor<3x2x4xf32>, %fv: tensor<3x2x5xf32>) {
  // expected-error @+2 {{expects 'sink_query' beside a 'window', but got none}}
  // expected-note @+1 {{without a window the first tokens never leave sight}}
  %y, %a, %b, %c, %d = seq.attention %q, %k, %v positions(%p) sink_query(%sq) states(%keys, %values) sink_states(%fk, %fv) {scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x6x4xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>)
  return
}

// -----

func.func @att10_numbers_of_first_tokens_alone(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>, %sq: tensor<7x6x4xf32>, %fk: tensor<3x2x4xf32>, %fv: tensor<3x2x5xf32>, %fd: tensor<3x2xf32>) {
  // expected-error @+1 {{expects 'sink_scores' absent with 'sink_keys' and without 'd', but got it present}}
  %y, %a, %b, %c, %d, %e = seq.attention %q, %k, %v positions(%p) sink_query(%sq) states(%keys, %values) sink_states(%fk, %fv, %fd) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x6x4xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>, tensor<3x2xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>, tensor<3x2xf32>)
  return
}

// -----

func.func @att11_query_per_key_head(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>, %sq: tensor<7x2x4xf32>, %fk: tensor<3x2x4xf32>, %fv: tensor<3x2x5xf32>) {
  // expected-error @+1 {{expects 'sink_query' of shape T,H,K = 7, 6, 4, but got 7, 2, 4}}
  %y, %a, %b, %c, %d = seq.attention %q, %k, %v positions(%p) sink_query(%sq) states(%keys, %values) sink_states(%fk, %fv) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x2x4xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>)
  return
}

// -----

func.func @att11_first_values_of_other_rows(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>, %sq: tensor<7x6x4xf32>, %fk: tensor<3x2x4xf32>, %fv: tensor<4x2x5xf32>) {
  // expected-error @+2 {{expects 'sink_values' of shape S,J,V = 3, 2, 5, but got 4, 2, 5}}
  // expected-note @+1 {{'sink_values' has the extent of K where that of S belongs}}
  %y, %a, %b, %c, %d = seq.attention %q, %k, %v positions(%p) sink_query(%sq) states(%keys, %values) sink_states(%fk, %fv) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x6x4xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<4x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<4x2x5xf32>)
  return
}

// -----

func.func @att4_no_next_state_of_first_tokens(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>, %sq: tensor<7x6x4xf32>, %fk: tensor<3x2x4xf32>, %fv: tensor<3x2x5xf32>) {
  // expected-error @+1 {{expects a next state for each of the 4 states, but got 2}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) sink_query(%sq) states(%keys, %values) sink_states(%fk, %fv) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x6x4xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @misspelt_attribute(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+2 {{'seq.attention' op has no attribute 'windoww'}}
  // expected-note @+1 {{did you mean 'window'?}}
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {windoww = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att12_more_channels_than_keys(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>) {
  // expected-error @+1 {{expects 'y' of at most K = 4 channels without 'v', but got 5}}
  %y, %a = seq.attention %q, %k positions(%p) states(%keys) {scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>) -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @att12_first_tokens_without_values(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %sq: tensor<7x6x4xf32>, %keys: tensor<8x2x4xf32>) {
  // expected-error @+1 {{expects 'v' beside 'sink_query', but got none}}
  %y, %a = seq.attention %q, %k positions(%p) sink_query(%sq) states(%keys) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<7x6x4xf32>, tensor<8x2x4xf32>) -> (tensor<7x6x3xf32>, tensor<8x2x4xf32>)
  return
}

// -----

func.func @att4_values_without_v(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x3xf32>) {
  // expected-error @+1 {{expects 'v' and 'values' both present or both absent, but got one of them}}
  %y, %a, %b = seq.attention %q, %k positions(%p) states(%keys, %values) {scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x3xf32>)
        -> (tensor<7x6x3xf32>, tensor<8x2x4xf32>, tensor<8x2x3xf32>)
  return
}

// -----

func.func @att13_blocks_of_no_length(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %b: tensor<7x2x3xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'blocks' and 'block' both present or both absent, but got 'blocks' alone}}
  %y, %a, %c = seq.attention %q, %k, %v positions(%p) blocks(%b) states(%keys, %values) {scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x2x3xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att13_length_without_blocks(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %b: tensor<7x2x3xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'blocks' and 'block' both present or both absent, but got 'block' alone}}
  %y, %a, %c = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {block = 4 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att13_blocks_in_a_window(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %b: tensor<7x2x3xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects no 'window' beside 'blocks', but got 7}}
  %y, %a, %c = seq.attention %q, %k, %v positions(%p) blocks(%b) states(%keys, %values) {window = 7 : i64, block = 4 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x2x3xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att13_groups_of_several_keys(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %b: tensor<7x3x3xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects M to divide H = 6 and to be a multiple of G = 2 and of J = 2, but got 3}}
  %y, %a, %c = seq.attention %q, %k, %v positions(%p) blocks(%b) states(%keys, %values) {block = 4 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x3x3xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att13_block(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %b: tensor<7x2x3xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'block' in 1..1073741824, but got 0}}
  %y, %a, %c = seq.attention %q, %k, %v positions(%p) blocks(%b) states(%keys, %values) {block = 0 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<7x2x3xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @att13_blocks_t(
    %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %b: tensor<9x2x3xi32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'blocks' of shape T,M,U = 7, M, U, but got 9, 2, 3}}
  %y, %a, %c = seq.attention %q, %k, %v positions(%p) blocks(%b) states(%keys, %values) {block = 4 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<9x2x3xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}
