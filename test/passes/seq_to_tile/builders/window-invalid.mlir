// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile --split-input-file --verify-diagnostics

// More keys than a kernel tells apart: by their distance, and by their number where
// only some are kept.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 188978566656, states = [
    <name = "keys", kind = window, growth = window, type = tensor<1073741856x2x10xf32>, neutral = 0.0 : f32, offset = 0>,
    <name = "values", kind = window, growth = window, type = tensor<1073741856x2x12xf32>, neutral = 0.0 : f32, offset = 85899348480>]>} {



func.func @prefill_16(%q: tensor<?xi32>, %rows: tensor<?xi32>, %p: tensor<?xi32>,
                      %keys: tensor<1073741856x2x10xf32> {seq.state_name = "keys"},
                      %values: tensor<1073741856x2x12xf32> {seq.state_name = "values"})
    -> (tensor<?x6x12xf32>, tensor<1073741856x2x10xf32>, tensor<1073741856x2x12xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x104xf32>
  %in = seq.embedding %q, %table : (tensor<?xi32>, tensor<11x104xf32>) -> tensor<?x104xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 60 : i64} : tensor<?x104xf32> -> tensor<?x60xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 60 : i64, size = 20 : i64} : tensor<?x104xf32> -> tensor<?x20xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 80 : i64, size = 24 : i64} : tensor<?x104xf32> -> tensor<?x24xf32>
  %q1 = seq.scale %q0 by 2.0 : tensor<?x60xf32>
  %q2 = seq.reshape %q1 : tensor<?x60xf32> -> tensor<?x6x10xf32>
  %k = seq.reshape %k0 : tensor<?x20xf32> -> tensor<?x2x10xf32>
  %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  // expected-error @+2 {{expects at most 1073741824 keys in sight, but got 1073741856}}
  // expected-note @+1 {{kernels count the distance of keys in 32 bits; a smaller window or context has room}}
  %y, %next_k, %next_v = seq.attention %q2, %k, %v positions(%p) states(%keys, %values)
      {window = 40 : i64, scale = 0.5 : f64, form = #seq.form<kind = chunkwise, chunk = 32>}
      : (tensor<?x6x10xf32>, tensor<?x2x10xf32>, tensor<?x2x12xf32>, tensor<?xi32>, tensor<1073741856x2x10xf32>, tensor<1073741856x2x12xf32>)
        -> (tensor<?x6x12xf32>, tensor<1073741856x2x10xf32>, tensor<1073741856x2x12xf32>)
  return %y, %next_k, %next_v : tensor<?x6x12xf32>, tensor<1073741856x2x10xf32>, tensor<1073741856x2x12xf32>
}
seq.weight @table source("table") : tensor<11x104xf32>
}

// -----

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 6174015488, states = [
    <name = "keys", kind = window, growth = window, type = tensor<33554432x2x10xf32>, neutral = 0.0 : f32, offset = 0>,
    <name = "values", kind = window, growth = window, type = tensor<33554432x2x12xf32>, neutral = 0.0 : f32, offset = 2684354560>,
    <name = "numbers", kind = window, growth = window, type = tensor<33554432x2xf32>, neutral = 0.0 : f32, offset = 5905580032>]>} {


func.func @prefill_16(%q: tensor<?xi32>, %rows: tensor<?xi32>, %p: tensor<?xi32>,
                      %keys: tensor<33554432x2x10xf32> {seq.state_name = "keys"},
                      %values: tensor<33554432x2x12xf32> {seq.state_name = "values"},
                      %numbers: tensor<33554432x2xf32> {seq.state_name = "numbers"})
    -> (tensor<?x6x12xf32>, tensor<33554432x2x10xf32>, tensor<33554432x2x12xf32>, tensor<33554432x2xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x106xf32>
  %in = seq.embedding %q, %table : (tensor<?xi32>, tensor<11x106xf32>) -> tensor<?x106xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 60 : i64} : tensor<?x106xf32> -> tensor<?x60xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 60 : i64, size = 20 : i64} : tensor<?x106xf32> -> tensor<?x20xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 80 : i64, size = 24 : i64} : tensor<?x106xf32> -> tensor<?x24xf32>
  %d = seq.slice %in {axis = 1 : i64, offset = 104 : i64, size = 2 : i64} : tensor<?x106xf32> -> tensor<?x2xf32>
  %q1 = seq.reshape %q0 : tensor<?x60xf32> -> tensor<?x6x10xf32>
  %k = seq.reshape %k0 : tensor<?x20xf32> -> tensor<?x2x10xf32>
  %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  // expected-error @+2 {{expects at most 16777216 keys in sight, but got 16777217}}
  // expected-note @+1 {{kernels count the keys that are kept in f32; a smaller window or context has room}}
  %y, %next_k, %next_v, %next_d = seq.attention %q1, %k, %v positions(%p) numbers(%d) states(%keys, %values, %numbers)
      {window = 16777217 : i64, scale = 0.5 : f64, key_score = #seq.key_score<bias>, keep = 5 : i64,
       form = #seq.form<kind = chunkwise, chunk = 32>}
      : (tensor<?x6x10xf32>, tensor<?x2x10xf32>, tensor<?x2x12xf32>, tensor<?xi32>, tensor<?x2xf32>,
         tensor<33554432x2x10xf32>, tensor<33554432x2x12xf32>, tensor<33554432x2xf32>)
        -> (tensor<?x6x12xf32>, tensor<33554432x2x10xf32>, tensor<33554432x2x12xf32>, tensor<33554432x2xf32>)
  return %y, %next_k, %next_v, %next_d : tensor<?x6x12xf32>, tensor<33554432x2x10xf32>, tensor<33554432x2x12xf32>, tensor<33554432x2xf32>
}
seq.weight @table source("table") : tensor<11x106xf32>
}
