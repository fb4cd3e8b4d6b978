// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// A model of two equal layers and a head. Both layers' products run the same
// kernel on their own weights; the entry becomes a plan. 5 f32 of a row are
// padded to 16, so that a buffer of 4 rows has 4 * 64 = 256 bytes; 20 f32 to 32,
// 512 bytes. The slice starts 3 * 4 = 12 bytes further on. A product takes 2 * 20 * 5
// FLOPs of each row, the head 2 * 19 * 20; what is only moved has none.

// CHECK: seq.weight @l1
// CHECK-LABEL: plan.entry @prefill_4 kind prefill rows 4 chunk 1
// CHECK: %[[TOKENS:.*]] = plan.table tokens
// CHECK: %[[ROWS:.*]] = plan.table output_rows
// CHECK: %[[TABLE:.*]] = plan.weight @table
// CHECK: %[[L0:.*]] = plan.weight @l0
// CHECK: %[[X:.*]] = plan.arena bytes 256
// CHECK: plan.launch @embedding_0(%[[TOKENS]], %[[TABLE]], %[[X]]) items <rows, tile = 1, times = 1> note "embedding"{{$}}
// CHECK: %[[P0:.*]] = plan.arena bytes 512
// CHECK: plan.launch @linear_1(%[[X]], %[[L0]], %[[P0]]) items <one, tile = 1, times = 2> note "layers.0.in_proj" flops 200{{$}}
// CHECK: %[[S:.*]] = plan.offset %[[P0]] by 12
// CHECK: plan.launch @rms_norm_2(%[[S]],
// CHECK: plan.launch @linear_1({{.*}}) items <one, tile = 1, times = 2> note "layers.1.in_proj" flops 200{{$}}
// CHECK: plan.launch @select_rows_3(%[[ROWS]], %{{.*}}, %[[CHOSEN:.*]])
// CHECK: %[[LOGITS:.*]] = plan.logits
// CHECK: plan.launch @lm_head_4(%[[CHOSEN]], %{{.*}}, %[[LOGITS]]) {{.*}} flops 760{{$}}
// CHECK-LABEL: tile.kernel @embedding_0(
// CHECK-LABEL: tile.kernel @linear_1(
// CHECK-SAME: !tile.view<?x5xf32, [16, 1]>, %{{.*}}: !tile.view<20x5xf32, [16, 1]>, %{{.*}}: !tile.view<?x20xf32, [32, 1]>)
// CHECK-SAME: items(#tile.items<one, tile = 1, times = 2>) writes(2) streamed(1)
// CHECK-LABEL: tile.kernel @rms_norm_2(
// CHECK-SAME: !tile.view<?x5xf32, [32, 1]>
// CHECK-LABEL: tile.kernel @select_rows_3(
// CHECK-SAME: items(#tile.items<outputs, tile = 1, times = 1>)
// CHECK-LABEL: tile.kernel @lm_head_4(
// CHECK-SAME: !tile.view<?x20xf32, [32, 1]>, %{{.*}}: !tile.view<19x20xf32, [32, 1]>, %{{.*}}: !tile.view<?x19xf32, [19, 1]>)
// CHECK: tile.count outputs
// CHECK-NOT: tile.kernel
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x5xf32>
seq.weight @l0 source("l0") : tensor<20x5xf32>
seq.weight @l1 source("l1") : tensor<20x5xf32>
seq.weight @norm source("norm") : tensor<5xf32>
seq.weight @head source("head") : tensor<19x20xf32>
func.func @prefill_4(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x19xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 4>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  %l0 = seq.parameter @l0 : tensor<20x5xf32>
  %l1 = seq.parameter @l1 : tensor<20x5xf32>
  %norm = seq.parameter @norm : tensor<5xf32>
  %head = seq.parameter @head : tensor<19x20xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  %p = seq.linear %x, %l0 : (tensor<?x5xf32>, tensor<20x5xf32>) -> tensor<?x20xf32> loc("layers.0.in_proj")
  %s = seq.slice %p {axis = 1 : i64, offset = 3 : i64, size = 5 : i64} : tensor<?x20xf32> -> tensor<?x5xf32>
  %n = seq.rms_norm %s, %norm {eps = 1.0e-5 : f64} : tensor<?x5xf32>, tensor<5xf32>
  %q = seq.linear %n, %l1 : (tensor<?x5xf32>, tensor<20x5xf32>) -> tensor<?x20xf32> loc("layers.1.in_proj")
  %r = seq.select_rows %q, %rows : (tensor<?x20xf32>, tensor<?xi32>) -> tensor<?x20xf32>
  %logits = seq.lm_head %r, %head : (tensor<?x20xf32>, tensor<19x20xf32>) -> tensor<?x19xf32>
  return %logits : tensor<?x19xf32>
}
}
