// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 6 heads in 2 groups; rings of 64 rows, so blocks of 32 keys, of which a window
// of 40 spans 3 at most. Slots have 16384 bytes, 4096 f32. Prefill deals out 6
// heads times 2 parts of the queries, 16 of them a block; decode 2 groups of 3
// heads. What all items read is written by a second launch.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 16384, states = [
    <name = "keys", kind = window, growth = window, type = tensor<64x2x10xf32>, neutral = 0.0 : f32, offset = 0>,
    <name = "values", kind = window, growth = window, type = tensor<64x2x12xf32>, neutral = 0.0 : f32, offset = 5120>]>} {

// CHECK-LABEL: plan.entry @prefill_16
// CHECK-DAG: %[[KEYS:.*]] = plan.state "keys"
// CHECK-DAG: %[[VALUES:.*]] = plan.state "values"
// CHECK: plan.launch @[[MIX:attention_[0-9]+]]({{.*}}) items <segments, tile = 1, times = 12>
// CHECK: plan.launch @[[MIX]]_append({{.*}}) items <segments, tile = 1, times = 8>

// CHECK: tile.kernel @[[MIX]](
// CHECK: %[[SLOT:[^,]+]], %{{.*}}, %{{.*}}, %[[START:[^,]+]], %{{.*}} = tile.segment
// Blocks of queries, then those of keys in the ring, the spliced one, the rows'.
// CHECK: scf.for
// CHECK: tile.load {{.*}} rows(%{{.*}}) sizes [16, 1, 10] : <?x6x10xf32, [64, 10, 1]>
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.load %{{.*}}[%[[SLOT]], {{.*}}] sizes [1, 32, 1, 10] : <?x64x2x10xf32, [4096, 20, 10, 1]>
// CHECK: tile.load %{{.*}}[%[[SLOT]], {{.*}}] sizes [1, 32, 1, 12] : <?x64x2x12xf32, [4096, 24, 12, 1]>
// CHECK: tile.dot {{.*}} transpose_b
// CHECK: arith.select
// CHECK: tile.reduce max {{.*}} over columns
// CHECK: math.exp
// CHECK: tile.reduce add {{.*}} over columns
// CHECK: tile.dot
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-2: tile.splice
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.load {{.*}} rows(%{{.*}}) sizes [32, 1, 10]
// CHECK: tile.store {{.*}} rows(%{{.*}}) sizes [16, 1, 12]

// CHECK: tile.kernel @[[MIX]]_append(
// CHECK: arith.remui %{{.*}}, %c64
// CHECK: tile.store {{.*}} sizes [1, 1, 2, 10]
// CHECK: tile.store {{.*}} sizes [1, 1, 2, 12]
func.func @prefill_16(%q: tensor<?xi32>, %rows: tensor<?xi32>, %p: tensor<?xi32>,
                      %keys: tensor<64x2x10xf32> {seq.state_name = "keys"},
                      %values: tensor<64x2x12xf32> {seq.state_name = "values"})
    -> (tensor<?x6x12xf32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x104xf32>
  %in = seq.embedding %q, %table : (tensor<?xi32>, tensor<11x104xf32>) -> tensor<?x104xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 60 : i64} : tensor<?x104xf32> -> tensor<?x60xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 60 : i64, size = 20 : i64} : tensor<?x104xf32> -> tensor<?x20xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 80 : i64, size = 24 : i64} : tensor<?x104xf32> -> tensor<?x24xf32>
  %q1 = seq.scale %q0 by 2.0 : tensor<?x60xf32>
  %q2 = seq.reshape %q1 : tensor<?x60xf32> -> tensor<?x6x10xf32>
  %k = seq.reshape %k0 : tensor<?x20xf32> -> tensor<?x2x10xf32>
  %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  %y, %next_k, %next_v = seq.attention %q2, %k, %v positions(%p) states(%keys, %values)
      {window = 40 : i64, scale = 0.5 : f64, form = #seq.form<kind = chunkwise, chunk = 32>}
      : (tensor<?x6x10xf32>, tensor<?x2x10xf32>, tensor<?x2x12xf32>, tensor<?xi32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>)
        -> (tensor<?x6x12xf32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>)
  return %y, %next_k, %next_v : tensor<?x6x12xf32>, tensor<64x2x10xf32>, tensor<64x2x12xf32>
}
seq.weight @table source("table") : tensor<11x104xf32>
}
