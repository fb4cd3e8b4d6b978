// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 12 channels in 3 groups of 4: an item for each group. The mean is subtracted
// before squares are taken; the weight has a number for each channel and is read
// where the group is, the bias one for each of a group and is read from 0.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x12xf32>
seq.weight @w source("w") : tensor<12xf32>
seq.weight @b source("b") : tensor<4xf32>

// CHECK-LABEL: tile.kernel @group_norm_1(
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x12xf32, [16, 1]>, %[[W:[^:,]+]]: !tile.view<12xf32, [1]>, %[[B:[^:,]+]]: !tile.view<4xf32, [1]>
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 3>)
// CHECK: %[[GROUP:.*]] = arith.remui %[[ITEM]], %c3
// CHECK: %[[COLUMN:.*]] = arith.muli %[[GROUP]], %c4
// CHECK: %[[XS:.*]] = tile.load %[[X]][%{{.*}}, %[[COLUMN]]] sizes [1, 4]
// CHECK: %[[SUM:.*]] = tile.reduce add %[[XS]] over columns
// CHECK: %[[MEAN:.*]] = arith.divf %[[SUM]]
// CHECK: %[[CENTRED:.*]] = tile.map(%[[XS]], %[[MEAN]])
// CHECK: arith.subf
// CHECK: %[[SQUARES:.*]] = tile.map(%[[CENTRED]])
// CHECK: tile.reduce add %[[SQUARES]] over columns
// CHECK: math.sqrt
// CHECK: %[[WS:.*]] = tile.load %[[W]][%[[COLUMN]]] sizes [4]
// CHECK: %[[BS:.*]] = tile.load %[[B]][%c0{{.*}}] sizes [4]
// CHECK: tile.map(%[[CENTRED]], %{{.*}}, %[[WS]], %[[BS]])
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x12xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x12xf32>
  %w = seq.parameter @w : tensor<12xf32>
  %b = seq.parameter @b : tensor<4xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x12xf32>) -> tensor<?x12xf32>
  %y = seq.group_norm %x weight(%w : tensor<12xf32>) bias(%b : tensor<4xf32>)
      {centred, eps = 1.0e-5 : f64, groups = 3 : i64} : tensor<?x12xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x12xf32>, tensor<?xi32>) -> tensor<?x12xf32>
  return %out : tensor<?x12xf32>
}
}
