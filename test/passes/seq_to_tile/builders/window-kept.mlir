// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 6 heads with 2 numbers per key, of which 3 heads share each: 2 groups times 4 parts
// of the queries. The 5 keys of the largest numbers in a window of 40 are searched in 32
// halvings of numbers and 7 of positions (40 are less than 64, and one more), once for
// the 3 heads that follow.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 16384, states = [
    <name = "keys", kind = window, growth = window, type = tensor<64x2x10xf32>, neutral = 0.0 : f32, offset = 0>,
    <name = "values", kind = window, growth = window, type = tensor<64x2x12xf32>, neutral = 0.0 : f32, offset = 5120>,
    <name = "numbers", kind = window, growth = window, type = tensor<64x2xf32>, neutral = 0.0 : f32, offset = 11264>]>} {

// CHECK: plan.launch @[[MIX:attention_[0-9]+]]({{.*}}) items <segments, tile = 1, times = 8>

// CHECK: tile.kernel @[[MIX]](
// CHECK: scf.for %{{.*}} = %{{.*}} to %c32{{[_0-9]*}} step %{{.*}} iter_args
// CHECK: scf.for %{{.*}} = %{{.*}} to %c7{{[_0-9]*}} step %{{.*}} iter_args
// CHECK: scf.for %[[HEAD:.*]] = %c0{{[_0-9]*}} to %c3{{[_0-9]*}} step %{{[^ ]*}} {
// CHECK: tile.load {{.*}} sizes [16, 1, 10]
// CHECK-NOT: to %c32{{[_0-9]*}} step
// CHECK: tile.store {{.*}} sizes [16, 1, 12]
func.func @prefill_16(%q: tensor<?xi32>, %rows: tensor<?xi32>, %p: tensor<?xi32>,
                      %keys: tensor<64x2x10xf32> {seq.state_name = "keys"},
                      %values: tensor<64x2x12xf32> {seq.state_name = "values"},
                      %numbers: tensor<64x2xf32> {seq.state_name = "numbers"})
    -> (tensor<?x6x12xf32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>, tensor<64x2xf32>)
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
  %y, %next_k, %next_v, %next_d = seq.attention %q1, %k, %v positions(%p) numbers(%d) states(%keys, %values, %numbers)
      {window = 40 : i64, scale = 0.5 : f64, key_score = #seq.key_score<bias>, keep = 5 : i64,
       form = #seq.form<kind = chunkwise, chunk = 32>}
      : (tensor<?x6x10xf32>, tensor<?x2x10xf32>, tensor<?x2x12xf32>, tensor<?xi32>, tensor<?x2xf32>,
         tensor<64x2x10xf32>, tensor<64x2x12xf32>, tensor<64x2xf32>)
        -> (tensor<?x6x12xf32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>, tensor<64x2xf32>)
  return %y, %next_k, %next_v, %next_d : tensor<?x6x12xf32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>, tensor<64x2xf32>
}
seq.weight @table source("table") : tensor<11x106xf32>
}
