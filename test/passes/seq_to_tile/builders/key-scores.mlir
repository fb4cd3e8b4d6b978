// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 2 halves of 3 heads with 30 keys of 5 channels each: 6 products of 30 outputs,
// in runs of 24. Query (half, h, c): a half is 15 channels on, a head 5. Keys
// (h, n) with both halves in a row: a half is 5 channels on, a head 30 rows.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x30xf32>
seq.weight @keys source("keys") : tensor<90x10xf32>

// CHECK-LABEL: tile.kernel @key_scores_1(
// CHECK-SAME: items(#tile.items<one, tile = 1, times = 12>)
// CHECK: %[[PART:.*]] = arith.divui %{{.*}}, %c2
// CHECK: %[[NUMBER:.*]] = arith.remui
// CHECK: %[[HALF:.*]] = arith.divui %[[PART]], %c3
// CHECK: %[[HEAD:.*]] = arith.remui %[[PART]]
// CHECK: arith.muli %[[HALF]], %c15
// CHECK: arith.muli %[[HEAD]], %c5
// CHECK: arith.muli %[[HEAD]], %c30
// CHECK: tile.load {{.*}} sizes [1, 5]
// CHECK: tile.load {{.*}} rows({{.*}}) sizes [24, 5]
// CHECK: tile.store {{.*}}[%{{.*}}, %[[HALF]], %[[HEAD]], %{{.*}}] columns({{.*}}) sizes [1, 1, 1, 24]
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x180xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x30xf32>
  %keys = seq.parameter @keys : tensor<90x10xf32>
  %q = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x30xf32>) -> tensor<?x30xf32>
  %s = seq.key_scores %q, %keys {layout = #seq.key_layout<half_head>} : (tensor<?x30xf32>, tensor<90x10xf32>) -> tensor<?x2x3x30xf32>
  %flat = seq.reshape %s : tensor<?x2x3x30xf32> -> tensor<?x180xf32>
  %out = seq.select_rows %flat, %rows : (tensor<?x180xf32>, tensor<?xi32>) -> tensor<?x180xf32>
  return %out : tensor<?x180xf32>
}
}
