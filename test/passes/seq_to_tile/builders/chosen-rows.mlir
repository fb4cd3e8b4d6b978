// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 3 heads choose 4 of 49 experts of 20 channels: 12 choices, in one group of 12 as
// they are fewer than 16. A head of a row is an item of the choice, a row one of
// the rest, whose channels are fewer than 256.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x62xf32>
seq.weight @down source("down") : tensor<49x20xbf16>
seq.weight @up source("up") : tensor<49x20xbf16>

// CHECK-LABEL: plan.entry @decode_1
// CHECK: plan.launch @choose_rows_1(
// CHECK: plan.launch @expert_hidden_2(
// CHECK: plan.launch @sum_rows_3(

// CHECK-LABEL: tile.kernel @choose_rows_1(
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 3>) writes(1, 2)
// CHECK: %[[A:.*]] = tile.load {{.*}} sizes [1, 1, 1, 7]
// CHECK: %[[B:.*]] = tile.load {{.*}} sizes [1, 1, 1, 7]
// CHECK: %[[VALUES:.*]], %[[NUMBERS:.*]] = tile.top_k %[[A]], %[[B]] {{.*}} -> <4xf32, row>, <4xi32, row>
// CHECK: %[[MAX:.*]] = tile.reduce max %[[VALUES]]
// CHECK: tile.store %[[NUMBERS]], {{.*}} sizes [1, 4]
// CHECK: tile.store {{.*}} sizes [1, 4]

// CHECK-LABEL: tile.kernel @expert_hidden_2(
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 1>)
// CHECK: %[[SUMS:.*]] = tile.pipeline stages 1 extent 20 step 20
// CHECK: %[[X:.*]] = tile.load {{.*}} sizes [1, 20]
// CHECK: %[[ROWS:.*]] = tile.gather_rows {{.*}} : <49x20xbf16, [32, 1]>, <?x12xi32, [16, 1]> -> <12x20xf32, operand>
// CHECK: tile.yield %[[X]], %[[ROWS]]
// CHECK: tile.dot {{.*}} transpose_b
// CHECK: %[[H:.*]] = tile.map(%[[SUMS]],
// CHECK: tile.store %[[H]], {{.*}} sizes [1, 12, 1]

// CHECK-LABEL: tile.kernel @sum_rows_3(
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 1>)
// CHECK: %[[W:.*]] = tile.load {{.*}} sizes [1, 12]
// CHECK: %[[ROWS:.*]] = tile.gather_rows {{.*}} -> <12x20xf32, operand>
// CHECK: tile.dot %{{.*}}, %[[W]], %[[ROWS]] : <1x20xf32, accumulator>
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x20xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x62xf32>
  %down = seq.parameter @down : tensor<49x20xbf16>
  %up = seq.parameter @up : tensor<49x20xbf16>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x62xf32>) -> tensor<?x62xf32>
  %flat = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 42 : i64} : tensor<?x62xf32> -> tensor<?x42xf32>
  %x = seq.slice %in {axis = 1 : i64, offset = 42 : i64, size = 20 : i64} : tensor<?x62xf32> -> tensor<?x20xf32>
  %scores = seq.reshape %flat : tensor<?x42xf32> -> tensor<?x2x3x7xf32>
  %w, %chosen = seq.choose_rows %scores {top_k = 4 : i64} : tensor<?x2x3x7xf32> -> tensor<?x12xf32>, tensor<?x12xi32>
  %h = seq.expert_hidden %x, %w, %chosen, %down {nonlinearity = #seq.nonlinearity<gelu>}
      : (tensor<?x20xf32>, tensor<?x12xf32>, tensor<?x12xi32>, tensor<49x20xbf16>) -> tensor<?x12x1xf32>
  %h1 = seq.reshape %h : tensor<?x12x1xf32> -> tensor<?x12xf32>
  %y = seq.sum_rows %h1, %chosen, %up : (tensor<?x12xf32>, tensor<?x12xi32>, tensor<49x20xbf16>) -> tensor<?x20xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x20xf32>, tensor<?xi32>) -> tensor<?x20xf32>
  return %out : tensor<?x20xf32>
}
}
