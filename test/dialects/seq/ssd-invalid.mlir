// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by. T,H,G,K,V = 7,6,2,3,5. The
// generic form is used where the syntax allows no such mistake.

func.func @ssd1_x_not_split_into_heads(
    %x: tensor<7x30xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'x' of shape T,H,V, but got 7, 30}}
  // expected-note @+1 {{'x' lacks the leading T of tokens}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x30xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd9_result_of_other_type(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %h: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{failed to verify that all of {x, y} have same type}}
  %y, %next = "seq.ssd"(%x, %dt, %b, %b, %h, %h, %h, %s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>)
      -> (tensor<7x6x3xf32>, tensor<6x3x5xf32>)
  return
}

// -----

func.func @ssd2_dt_of_other_heads(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x5xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'dt' of shape T,H = 7, 6, but got 7, 5}}
  // expected-note @+1 {{'dt' has the extent of V where that of H belongs}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x5xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd2_dt_of_other_tokens(
    %x: tensor<7x6x5xf32>, %dt: tensor<?x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'dt' of shape T,H = 7, 6, but got ?, 6}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<?x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd3_key_without_group(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'b' of shape T,G,K = 7, G, K, but got 7, 3}}
  // expected-note @+1 {{'b' has G and K as one dimension: a 'seq.reshape' splits it}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd4_key_and_query_differ(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x4xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'c' of shape T,G,K = 7, 2, 3, but got 7, 2, 4}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x4xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd4_query_transposed(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x3x2xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'c' of shape T,G,K = 7, 2, 3, but got 7, 3, 2}}
  // expected-note @+1 {{'c' looks transposed: its G and K are exchanged}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x3x2xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd10_groups_do_not_divide(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x4x3xf32>, %c: tensor<7x4x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects G to divide H = 6, but got 4}}
  // expected-note @+1 {{each group serves as many heads as any other; a projection of another width was perhaps taken}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x4x3xf32>, tensor<7x4x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd5_a_log_of_groups(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<2xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'a_log' of shape H = 6, but got 2}}
  // expected-note @+1 {{'a_log' has the extent of G where that of H belongs}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<2xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd6_dt_bias_of_groups(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<2xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+2 {{expects 'dt_bias' of shape H = 6, but got 2}}
  // expected-note @+1 {{'dt_bias' has the extent of G where that of H belongs}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<2xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd7_d_per_channel(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<30xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'd' of shape H = 6, but got 30}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<30xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd8_state_transposed(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x5x3xf32>) {
  // expected-error @+2 {{expects 'state' of shape H,K,V = 6, 3, 5, but got 6, 5, 3}}
  // expected-note @+1 {{'state' looks transposed: its K and V are exchanged}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x5x3xf32>
  return
}

// -----

func.func @ssd8_next_of_other_type(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %h: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{failed to verify that all of {state, next_state} have same type}}
  %y, %next = "seq.ssd"(%x, %dt, %b, %b, %h, %h, %h, %s)
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>)
      -> (tensor<7x6x5xf32>, tensor<6x5x3xf32>)
  return
}

// -----

func.func @ssd11_negative_limit(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'dt_min' of at least 0, but got -1.000000e+00 : f64}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s) {dt_min = -1.0 : f64}
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd11_not_a_number(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'dt_max' of at least 0, but got 0x7FF8000000000000 : f64}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s) {dt_max = 0x7FF8000000000000 : f64}
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}

// -----

func.func @ssd11_limits_exchanged(
    %x: tensor<7x6x5xf32>, %dt: tensor<7x6xf32>, %b: tensor<7x2x3xf32>, %c: tensor<7x2x3xf32>,
    %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  // expected-error @+1 {{expects 'dt_min' of at most 'dt_max', but got 1.000000e-01 : f64 and 1.000000e-03 : f64}}
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s) {dt_min = 0.1 : f64, dt_max = 1.0e-3 : f64}
      : (tensor<7x6x5xf32>, tensor<7x6xf32>, tensor<7x2x3xf32>, tensor<7x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}
