// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 14 channels in 2 heads of 7: an item for each head of a row. Powers are of
// what a number is below the largest; each is divided by their sum.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x14xf32>

// CHECK-LABEL: tile.kernel @softmax_1(
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x2x7xf32, [16, 7, 1]>
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 2>)
// CHECK: %[[HEAD:.*]] = arith.remui %[[ITEM]], %c2
// CHECK: %[[XS:.*]] = tile.load %[[X]][%{{.*}}, %[[HEAD]], %c0{{.*}}] sizes [1, 1, 7]
// CHECK: %[[LARGEST:.*]] = tile.reduce max %[[XS]] over columns
// CHECK: %[[POWERS:.*]] = tile.map(%[[XS]], %[[LARGEST]])
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: %[[SUM:.*]] = tile.reduce add %[[POWERS]] over columns
// CHECK: tile.map(%[[POWERS]], %[[SUM]])
// CHECK: arith.divf
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x14xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x14xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x14xf32>) -> tensor<?x14xf32>
  %h = seq.reshape %x : tensor<?x14xf32> -> tensor<?x2x7xf32>
  %s = seq.softmax %h : tensor<?x2x7xf32>
  %y = seq.reshape %s : tensor<?x2x7xf32> -> tensor<?x14xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x14xf32>, tensor<?xi32>) -> tensor<?x14xf32>
  return %out : tensor<?x14xf32>
}
}
