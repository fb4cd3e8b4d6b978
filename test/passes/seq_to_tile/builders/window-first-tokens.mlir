// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 6 heads in 2 groups; a ring of 64 rows and 40 first tokens, so 2 blocks of 32 keys
// of the latter. A block of 16 queries reads them if its last position is past the
// window of 48; the last place in a cache of both is 40 + 48 - 1 = 87. The second
// launch writes the ring and then the first tokens' rows, or 0 where a sequence that
// begins has none.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 32768, states = [
    <name = "keys", kind = window, growth = window, type = tensor<64x2x10xf32>, neutral = 0.0 : f32, offset = 0>,
    <name = "values", kind = window, growth = window, type = tensor<64x2x12xf32>, neutral = 0.0 : f32, offset = 5120>,
    <name = "first_keys", kind = growing, growth = fixed, type = tensor<40x2x10xf32>, neutral = 0.0 : f32, offset = 11264>,
    <name = "first_values", kind = growing, growth = fixed, type = tensor<40x2x12xf32>, neutral = 0.0 : f32, offset = 14464>]>} {

// CHECK: tile.kernel @[[MIX:attention_[0-9]+]](
// CHECK-COUNT-2: tile.load {{.*}} sizes [16, 1, 10] : <?x6x10xf32, [64, 10, 1]>
// CHECK: arith.cmpi sge, %{{.*}}, %c48
// CHECK: arith.select %{{.*}}, %c2{{[_0-9]*}}, %c0
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.splice {{.*}} : <?x40x2x10xf32
// CHECK: tile.splice {{.*}} : <?x40x2x12xf32
// CHECK-DAG: arith.constant 87 : i32
// CHECK-DAG: arith.constant -48 : i32
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.load {{.*}} : <?x64x2x10xf32

// CHECK: tile.kernel @[[MIX]]_append(
// CHECK: tile.store {{.*}} : {{.*}}<?x64x2x10xf32
// CHECK: scf.for
// CHECK: tile.store {{.*}} : {{.*}}<?x40x2x10xf32
// CHECK: scf.for
// CHECK: tile.splat
// CHECK: tile.store {{.*}} : {{.*}}<?x40x2x10xf32
func.func @prefill_16(%q: tensor<?xi32>, %rows: tensor<?xi32>, %p: tensor<?xi32>,
                      %keys: tensor<64x2x10xf32> {seq.state_name = "keys"},
                      %values: tensor<64x2x12xf32> {seq.state_name = "values"},
                      %first_keys: tensor<40x2x10xf32> {seq.state_name = "first_keys"},
                      %first_values: tensor<40x2x12xf32> {seq.state_name = "first_values"})
    -> (tensor<?x6x12xf32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>, tensor<40x2x10xf32>, tensor<40x2x12xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x104xf32>
  %in = seq.embedding %q, %table : (tensor<?xi32>, tensor<11x104xf32>) -> tensor<?x104xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 60 : i64} : tensor<?x104xf32> -> tensor<?x60xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 60 : i64, size = 20 : i64} : tensor<?x104xf32> -> tensor<?x20xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 80 : i64, size = 24 : i64} : tensor<?x104xf32> -> tensor<?x24xf32>
  %q1 = seq.scale %q0 by 2.0 : tensor<?x60xf32>
  %q2 = seq.reshape %q1 : tensor<?x60xf32> -> tensor<?x6x10xf32>
  %s1 = seq.scale %q0 by 3.0 : tensor<?x60xf32>
  %s2 = seq.reshape %s1 : tensor<?x60xf32> -> tensor<?x6x10xf32>
  %k = seq.reshape %k0 : tensor<?x20xf32> -> tensor<?x2x10xf32>
  %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  %y, %next_k, %next_v, %next_fk, %next_fv = seq.attention %q2, %k, %v positions(%p) sink_query(%s2)
      states(%keys, %values) sink_states(%first_keys, %first_values)
      {window = 48 : i64, scale = 0.5 : f64, form = #seq.form<kind = chunkwise, chunk = 32>}
      : (tensor<?x6x10xf32>, tensor<?x2x10xf32>, tensor<?x2x12xf32>, tensor<?xi32>, tensor<?x6x10xf32>,
         tensor<64x2x10xf32>, tensor<64x2x12xf32>, tensor<40x2x10xf32>, tensor<40x2x12xf32>)
        -> (tensor<?x6x12xf32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>, tensor<40x2x10xf32>, tensor<40x2x12xf32>)
  return %y, %next_k, %next_v, %next_fk, %next_fv
      : tensor<?x6x12xf32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>, tensor<40x2x10xf32>, tensor<40x2x12xf32>
}
seq.weight @table source("table") : tensor<11x104xf32>
}
