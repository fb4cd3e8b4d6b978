// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @means1_values_of_other_heads(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x3x5xf32>, %p: tensor<7xi32>, %ks: tensor<8x2x4xf32>, %vs: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'v' of shape T,G,V = 7, 2, V, but got 7, 3, 5}}
  %y, %n, %m = "seq.mix_block_means"(%q, %k, %v, %p, %ks, %vs) {block = 16 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x3x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @means1_keys_that_divide_no_heads(%q: tensor<7x6x4xf32>, %k: tensor<7x4x4xf32>, %v: tensor<7x4x5xf32>, %p: tensor<7xi32>, %ks: tensor<8x4x4xf32>, %vs: tensor<8x4x5xf32>) {
  // expected-error @+1 {{expects G to divide H = 6, but got 4}}
  %y, %n, %m = "seq.mix_block_means"(%q, %k, %v, %p, %ks, %vs) {block = 16 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x4x4xf32>, tensor<7x4x5xf32>, tensor<7xi32>, tensor<8x4x4xf32>, tensor<8x4x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x4x4xf32>, tensor<8x4x5xf32>)
  return
}

// -----

func.func @means1_y(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %ks: tensor<8x2x4xf32>, %vs: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'y' of shape T,H,V = 7, 6, 5, but got 7, 6, 3}}
  %y, %n, %m = "seq.mix_block_means"(%q, %k, %v, %p, %ks, %vs) {block = 16 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x3xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @means2_values_of_more_blocks(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %ks: tensor<8x2x4xf32>, %vs: tensor<9x2x5xf32>) {
  // expected-error @+1 {{expects 'value_sums' of shape L,G,V = 8, 2, 5, but got 9, 2, 5}}
  %y, %n, %m = "seq.mix_block_means"(%q, %k, %v, %p, %ks, %vs) {block = 16 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<9x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<9x2x5xf32>)
  return
}

// -----

func.func @means2_next_key_sums(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %ks: tensor<8x2x4xf32>, %vs: tensor<8x2x5xf32>) {
  // expected-error @+1 {{failed to verify that all of {key_sums, next_key_sums} have same type}}
  %y, %n, %m = "seq.mix_block_means"(%q, %k, %v, %p, %ks, %vs) {block = 16 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<9x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @means3_block(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %ks: tensor<8x2x4xf32>, %vs: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects 'block' in 1..1073741824, but got -4}}
  %y, %n, %m = "seq.mix_block_means"(%q, %k, %v, %p, %ks, %vs) {block = -4 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// -----

func.func @means4_scale(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x5xf32>, %p: tensor<7xi32>, %ks: tensor<8x2x4xf32>, %vs: tensor<8x2x5xf32>) {
  // expected-error @+1 {{expects a finite 'scale', but got 0x7FF8000000000000}}
  %y, %n, %m = "seq.mix_block_means"(%q, %k, %v, %p, %ks, %vs) {block = 16 : i64, scale = 0x7FF8000000000000 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<7x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}
