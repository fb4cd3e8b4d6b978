// RUN: effc-opt %s --split-input-file --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// A step without a state: an item is one of 3 heads of a row, as rows are items elsewhere, and no segment is asked for.
// The rate follows from the parameter alone: the negative exponential of a number, which the item reads.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x3xf32>
seq.weight @a_log source("a_log") : tensor<3xf32>

// CHECK-LABEL: tile.kernel @recurrence_1(
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 3>)
// CHECK-NOT: tile.segment
// CHECK-NOT: scf.for
// CHECK: %[[HEAD:.*]] = arith.remui %{{.*}}, %c3
// CHECK: %[[LOG:.*]] = tile.read %{{.*}}[%[[HEAD]]]
// CHECK: %[[RATE:.*]] = math.exp %[[LOG]]
// CHECK: arith.negf %[[RATE]]
// CHECK: math.log1p
// CHECK: arith.mulf
// CHECK: tile.store %{{.*}} sizes [1, 1] : <1xf32, row>
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x3xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x3xf32>
  %a_log = seq.parameter @a_log : tensor<3xf32>
  %dt = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x3xf32>) -> tensor<?x3xf32>
  %y = seq.recurrence tokens(%step = %dt : tensor<?x3xf32>) parameters(%log = %a_log : tensor<3xf32>) states()
      -> (tensor<?x3xf32>), () attributes {form = #seq.form<kind = step>} {
    %exp = seq.exp %log : tensor<3xf32>
    %rate = seq.neg %exp : tensor<3xf32>
    %size = seq.softplus %step : tensor<3xf32>
    %decay = seq.mul %rate, %size : tensor<3xf32>
    seq.yield %decay : tensor<3xf32>
  }
  %out = seq.select_rows %y, %rows : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x3xf32>
  return %out : tensor<?x3xf32>
}
}

// -----

// Behind the choice of rows its items are the rows that were chosen. Each of 2 heads is a matrix of 5 and 7, stored as
// one; the parameter along its rows is repeated.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x14xf32>
seq.weight @k source("k") : tensor<2x5xf32>

// CHECK-LABEL: tile.kernel @recurrence_2(
// CHECK-SAME: items(#tile.items<outputs, tile = 1, times = 2>)
// CHECK: tile.load %{{.*}} sizes [1, 5] {{.*}} -> <5xf32, column>
// CHECK: tile.load %{{.*}} sizes [1, 1, 7] {{.*}} -> <7xf32, row>
// CHECK: tile.store %{{.*}} sizes [1, 1, 5, 7] : <5x7xf32, accumulator>
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x2x5x7xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x14xf32>
  %keys = seq.parameter @k : tensor<2x5xf32>
  %e = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x14xf32>) -> tensor<?x14xf32>
  %chosen = seq.select_rows %e, %rows : (tensor<?x14xf32>, tensor<?xi32>) -> tensor<?x14xf32>
  %x = seq.reshape %chosen : tensor<?x14xf32> -> tensor<?x2x7xf32>
  %y = seq.recurrence tokens(%v = %x : tensor<?x2x7xf32>) parameters(%k = %keys : tensor<2x5xf32>) states()
      -> (tensor<?x2x5x7xf32>), () attributes {form = #seq.form<kind = step>} {
    %product = seq.contract %k, %v {indexing_maps = [affine_map<(h, i, j) -> (h, i)>, affine_map<(h, i, j) -> (h, j)>,
        affine_map<(h, i, j) -> (h, i, j)>]} : (tensor<2x5xf32>, tensor<2x7xf32>) -> tensor<2x5x7xf32>
    seq.yield %product : tensor<2x5x7xf32>
  }
  return %y : tensor<?x2x5x7xf32>
}
}
