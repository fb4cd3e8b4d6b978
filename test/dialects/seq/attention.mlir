// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 6 heads, 2 of keys and of values, 4 key and 5 value channels, 8 rows for 7 keys.

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x5xf32>, %p: tensor<?xi32>,
                     %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // CHECK: seq.attention %{{.*}}, %{{.*}}, %{{.*}} positions(%{{.*}}) states(%{{.*}}, %{{.*}}) {scale = 5.000000e-01 : f64, window = 7 : i64} : (tensor<?x6x4xf32>,
  %y, %next_k, %next_v = seq.attention %q, %k, %v positions(%p)
      states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>,
         tensor<?xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}

// A key's first 3 channels are its value.
// CHECK-LABEL: func.func @attention_of_keys_alone
func.func @attention_of_keys_alone(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %p: tensor<?xi32>, %keys: tensor<8x2x4xf32>) {
  // CHECK: seq.attention %{{.*}}, %{{.*}} positions(%{{.*}}) states(%{{[^,]*}}) {scale = 5.000000e-01 : f64} : (tensor<?x6x4xf32>,
  %y, %next = seq.attention %q, %k positions(%p) states(%keys) {scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<8x2x4xf32>)
        -> (tensor<?x6x3xf32>, tensor<8x2x4xf32>)
  return
}

// One key for all heads, all that an op may have.
// CHECK-LABEL: func.func @attention_with_everything
func.func @attention_with_everything(
    %q: tensor<7x6x4xf32>, %k: tensor<7x1x4xf32>, %v: tensor<7x6x5xf32>, %p: tensor<7xi32>, %d: tensor<7x3xf32>,
    %h: tensor<6xf32>, %keys: tensor<9x1x4xf32>, %values: tensor<9x6x5xf32>, %numbers: tensor<9x3xf32>) {
  // CHECK: seq.attention {{.*}} positions({{[^)]*}}) numbers({{[^)]*}}) sinks({{[^)]*}}) slopes({{[^)]*}}) states({{[^)]*}})
  // CHECK-SAME: form = #seq.form<kind = step>, keep = 2 : i64, key_score = #seq.key_score<bias>, scale = 1.000000e+00 : f64, soft_cap = 3.000000e+01 : f64
  %y, %next_k, %next_v, %next_d = seq.attention %q, %k, %v positions(%p) numbers(%d) sinks(%h) slopes(%h)
      states(%keys, %values, %numbers)
      {scale = 1.0 : f64, soft_cap = 30.0 : f64, key_score = #seq.key_score<bias>, keep = 2 : i64, form = #seq.form<kind = step>}
      : (tensor<7x6x4xf32>, tensor<7x1x4xf32>, tensor<7x6x5xf32>, tensor<7xi32>, tensor<7x3xf32>, tensor<6xf32>,
         tensor<6xf32>, tensor<9x1x4xf32>, tensor<9x6x5xf32>, tensor<9x3xf32>)
        -> (tensor<7x6x5xf32>, tensor<9x1x4xf32>, tensor<9x6x5xf32>, tensor<9x3xf32>)
  return
}

// 3 first tokens stay beside a window of 7, each with a number.
// CHECK-LABEL: func.func @attention_with_first_tokens
func.func @attention_with_first_tokens(
    %q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x5xf32>, %p: tensor<?xi32>, %sq: tensor<?x6x4xf32>,
    %d: tensor<?x2xf32>, %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>, %numbers: tensor<8x2xf32>,
    %first_keys: tensor<3x2x4xf32>, %first_values: tensor<3x2x5xf32>, %first_numbers: tensor<3x2xf32>) {
  // CHECK: seq.attention {{.*}} positions({{[^)]*}}) sink_query(%{{[^)]*}}) states(%{{[^,]*}}, %{{[^)]*}}) sink_states(%{{[^,]*}}, %{{[^),]*}}) {
  %y, %next_k, %next_v, %next_fk, %next_fv = seq.attention %q, %k, %v positions(%p) sink_query(%sq)
      states(%keys, %values) sink_states(%first_keys, %first_values) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>, tensor<?xi32>, tensor<?x6x4xf32>,
         tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>)
  // CHECK: seq.attention {{.*}} sink_query(%{{[^)]*}}) numbers(%{{[^)]*}}) states({{[^)]*}}) sink_states(%{{[^,]*}}, %{{[^,]*}}, %{{[^),]*}}) {
  %z:7 = seq.attention %q, %k, %v positions(%p) sink_query(%sq) numbers(%d)
      states(%keys, %values, %numbers) sink_states(%first_keys, %first_values, %first_numbers)
      {window = 7 : i64, scale = 0.5 : f64, key_score = #seq.key_score<bias>}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>, tensor<?xi32>, tensor<?x6x4xf32>, tensor<?x2xf32>,
         tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<8x2xf32>, tensor<3x2x4xf32>, tensor<3x2x5xf32>, tensor<3x2xf32>)
        -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<8x2xf32>, tensor<3x2x4xf32>,
            tensor<3x2x5xf32>, tensor<3x2xf32>)
  return
}

// Of blocks of 4 positions a key's heads choose 3 together.
// CHECK-LABEL: func.func @attention_over_chosen_blocks
func.func @attention_over_chosen_blocks(
    %q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x5xf32>, %p: tensor<?xi32>, %chosen: tensor<?x2x3xi32>,
    %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>) {
  // CHECK: seq.attention %{{.*}}, %{{.*}}, %{{.*}} positions(%{{.*}}) blocks(%{{.*}}) states(%{{.*}}, %{{.*}}) {block = 4 : i64, scale = 5.000000e-01 : f64}
  %u, %u_k, %u_v = seq.attention %q, %k, %v positions(%p) blocks(%chosen)
      states(%keys, %values) {block = 4 : i64, scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>,
         tensor<?xi32>, tensor<?x2x3xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return
}
