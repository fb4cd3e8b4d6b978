// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// A cell of 2 heads with 5 channels: the state is a column, and what comes back
// through the matrix, which is read once before the tokens, is a sum over its
// columns. Along them lies the column turned into a row. The result is a row.

#w = affine_map<(h, i, j) -> (h, i, j)>
#j = affine_map<(h, i, j) -> (h, j)>
#i = affine_map<(h, i, j) -> (h, i)>
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 64, states = [
    <name = "cell", kind = matrix, growth = fixed, type = tensor<2x5xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<11x10xf32>
seq.weight @w source("w") : tensor<2x5x5xf32>

// CHECK-LABEL: tile.kernel @recurrence_1(
// CHECK: %[[HEAD:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[SLOT:.*]], %[[FIRST:.*]], %[[LENGTH:.*]], %{{.*}}, %{{.*}} = tile.segment
// CHECK: %[[W:.*]] = tile.load %{{.*}}[%[[HEAD]], {{.*}}] sizes [1, 5, 5] {{.*}} -> <5x5xf32, accumulator>
// CHECK: tile.load %{{.*}}[%[[SLOT]], %[[HEAD]], {{.*}}] sizes [1, 1, 5] {{.*}} -> <5xf32, column>
// CHECK: scf.for {{.*}} to %[[LENGTH]] {{.*}} iter_args(%[[S:.*]] = %{{.*}})
// CHECK: %[[DIAGONAL:.*]] = tile.map(%[[S]]) : (!tile.tile<5xf32, column>) -> !tile.tile<5x5xf32, accumulator>
// CHECK: %[[ROW:.*]] = tile.reduce add %[[DIAGONAL]] over rows
// CHECK: %[[PRODUCTS:.*]] = tile.map(%[[W]], %[[ROW]])
// CHECK: tile.reduce add %[[PRODUCTS]] over columns : <5x5xf32, accumulator> -> !tile.tile<5xf32, column>
// CHECK: math.tanh
// CHECK: tile.store %{{.*}} sizes [1, 1, 5] : <5xf32, row>
// CHECK: scf.yield %{{.*}} : !tile.tile<5xf32, column>
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x5xf32> {seq.state_name = "cell"})
    -> (tensor<?x10xf32>, tensor<2x5xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x10xf32>
  %w = seq.parameter @w : tensor<2x5x5xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x10xf32>) -> tensor<?x10xf32>
  %x = seq.reshape %in : tensor<?x10xf32> -> tensor<?x2x5xf32>
  %y, %next = seq.recurrence tokens(%xt = %x : tensor<?x2x5xf32>) parameters(%wp = %w : tensor<2x5x5xf32>)
      states(%st = %s : tensor<2x5xf32>) -> (tensor<?x2x5xf32>), (tensor<2x5xf32>) attributes {form = #seq.form<kind = step>} {
    %back = seq.contract %wp, %st {indexing_maps = [#w, #j, #i]} : (tensor<2x5x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
    %sum = seq.add %xt, %back : tensor<2x5xf32>
    %new = seq.tanh %sum : tensor<2x5xf32>
    seq.yield %new, %new : tensor<2x5xf32>, tensor<2x5xf32>
  }
  %y0 = seq.reshape %y : tensor<?x2x5xf32> -> tensor<?x10xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x10xf32>, tensor<?xi32>) -> tensor<?x10xf32>
  return %out, %next : tensor<?x10xf32>, tensor<2x5xf32>
}
}
