// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// An item has 12 outputs for all rows, 4 at a time, and 24 in decode entries of at
// most 4 rows, which go at once: 30 outputs make 3 items and 2. Rows and outputs
// past the end are limited; the whole contraction is one step. The first rows to
// meet a weight ask for what follows it.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x5xf32>
seq.weight @residual source("residual") : tensor<11x30xf32>
seq.weight @w source("w") : tensor<30x5xbf16>
seq.weight @bias source("bias") : tensor<30xf32>

// CHECK-LABEL: plan.entry @prefill_16
// CHECK: plan.launch @linear_2
// CHECK-LABEL: tile.kernel @linear_2(
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x5xf32, [16, 1]>,
// CHECK-SAME: %[[W:[^:,]+]]: !tile.view<30x5xbf16, [32, 1]>, %[[B:[^:,]+]]: !tile.view<30xf32, [1]>,
// CHECK-SAME: %[[R:[^:,]+]]: !tile.view<?x30xf32, [32, 1]>, %[[Y:[^:,]+]]: !tile.view<?x30xf32, [32, 1]>)
// CHECK-SAME: items(#tile.items<one, tile = 1, times = 3>) writes(4) streamed(1, 2)
// CHECK: %[[FIRST:.*]] = arith.muli %[[ITEM]], %c12
// CHECK: %[[COLUMNS:.*]] = arith.minsi
// CHECK: %[[COUNT:.*]] = tile.count rows
// CHECK: %[[HEAD:.*]] = arith.minsi %[[COUNT]], %c4
// CHECK: scf.for {{.*}} = %c0{{[_0-9]*}} to %[[HEAD]] step %c4
// CHECK: sizes [12, 5] fetch_next
// CHECK: scf.for %[[ROW:.*]] = %c4{{[_0-9]*}} to %[[COUNT]] step %c4
// CHECK: %[[ROWS:.*]] = arith.minsi
// CHECK: %[[P:.*]] = tile.pipeline stages 1 extent 5 step 5
// CHECK: tile.load %[[X]][%[[ROW]], %{{.*}}] rows(%[[ROWS]]) sizes [4, 5]
// CHECK: tile.load %[[W]][%[[FIRST]], %{{.*}}] rows(%[[COLUMNS]]) sizes [12, 5]
// CHECK: tile.dot {{.*}} transpose_b
// CHECK: %[[BIAS:.*]] = tile.load %[[B]][%[[FIRST]]] columns(%[[COLUMNS]]) sizes [12]
// CHECK: %[[BIASED:.*]] = tile.map(%[[P]], %[[BIAS]])
// CHECK: arith.addf
// CHECK: %[[RESIDUAL:.*]] = tile.load %[[R]][%[[ROW]], %[[FIRST]]] rows(%[[ROWS]]) columns(%[[COLUMNS]]) sizes [4, 12]
// CHECK: %[[SUM:.*]] = tile.map(%[[BIASED]], %[[RESIDUAL]])
// CHECK: tile.store %[[SUM]], %[[Y]][%[[ROW]], %[[FIRST]]] rows(%[[ROWS]]) columns(%[[COLUMNS]]) sizes [4, 12]
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x30xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  %residual = seq.parameter @residual : tensor<11x30xf32>
  %w = seq.parameter @w : tensor<30x5xbf16>
  %bias = seq.parameter @bias : tensor<30xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  %r = seq.embedding %tokens, %residual : (tensor<?xi32>, tensor<11x30xf32>) -> tensor<?x30xf32>
  %p = seq.linear %x, %w bias(%bias) : (tensor<?x5xf32>, tensor<30x5xbf16>, tensor<30xf32>) -> tensor<?x30xf32>
  %y = seq.add %p, %r : tensor<?x30xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x30xf32>, tensor<?xi32>) -> tensor<?x30xf32>
  return %out : tensor<?x30xf32>
}

// CHECK-LABEL: plan.entry @decode_2
// CHECK-LABEL: tile.kernel @linear_
// CHECK-SAME: items(#tile.items<one, tile = 1, times = 2>)
// CHECK: scf.for {{.*}} step %c2
// CHECK: sizes [24, 5] fetch_next
// CHECK: tile.dot {{.*}} : <2x24xf32, accumulator>, <2x5xf32, operand>, <24x5xf32, operand>
func.func @decode_2(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x30xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  %w = seq.parameter @w : tensor<30x5xbf16>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  %p = seq.linear %x, %w : (tensor<?x5xf32>, tensor<30x5xbf16>) -> tensor<?x30xf32>
  %out = seq.select_rows %p, %rows : (tensor<?x30xf32>, tensor<?xi32>) -> tensor<?x30xf32>
  return %out : tensor<?x30xf32>
}

// CHECK-LABEL: plan.entry @decode_8
// CHECK-LABEL: tile.kernel @linear_
// CHECK-SAME: items(#tile.items<one, tile = 1, times = 3>)
// CHECK: %[[COUNT:.*]] = tile.count rows
// CHECK: %[[HEAD:.*]] = arith.minsi %[[COUNT]], %c4
// CHECK: scf.for {{.*}} = %c0{{[_0-9]*}} to %[[HEAD]] step %c4
// CHECK: sizes [12, 5] fetch_next
// CHECK: scf.for {{.*}} = %c4{{[_0-9]*}} to %[[COUNT]] step %c4
// CHECK: sizes [12, 5] :
func.func @decode_8(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x30xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 8>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  %w = seq.parameter @w : tensor<30x5xbf16>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  %p = seq.linear %x, %w : (tensor<?x5xf32>, tensor<30x5xbf16>) -> tensor<?x30xf32>
  %out = seq.select_rows %p, %rows : (tensor<?x30xf32>, tensor<?xi32>) -> tensor<?x30xf32>
  return %out : tensor<?x30xf32>
}

// Two blocks of 5 channels have a matrix each: an item belongs to one of them.
// CHECK-LABEL: plan.entry @prefill_blocks
// CHECK-LABEL: tile.kernel @linear_
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x2x5xf32, [16, 5, 1]>,
// CHECK-SAME: %[[W:[^:,]+]]: !tile.view<2x30x5xbf16, [160, 5, 1]>
// CHECK-SAME: items(#tile.items<one, tile = 1, times = 6>)
// CHECK: %[[BLOCK:.*]] = arith.divui %[[ITEM]], %c3
// CHECK: %[[PART:.*]] = arith.remui %[[ITEM]], %c3
// CHECK: %[[FIRST:.*]] = arith.muli %[[PART]], %c12
// CHECK: tile.load %[[X]][%{{.*}}, %[[BLOCK]], %{{.*}}] rows(%{{.*}}) sizes [4, 1, 5]
// CHECK: tile.load %[[W]][%[[BLOCK]], %[[FIRST]], %{{.*}}] rows(%{{.*}}) sizes [1, 12, 5] fetch_next
// CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %[[BLOCK]], %[[FIRST]]]
seq.weight @rows_of_blocks source("rows_of_blocks") : tensor<11x10xf32>
seq.weight @blocks source("blocks") : tensor<2x30x5xbf16>
func.func @prefill_blocks(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x60xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @rows_of_blocks : tensor<11x10xf32>
  %w = seq.parameter @blocks : tensor<2x30x5xbf16>
  %x0 = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x10xf32>) -> tensor<?x10xf32>
  %x = seq.reshape %x0 : tensor<?x10xf32> -> tensor<?x2x5xf32>
  %p = seq.linear %x, %w : (tensor<?x2x5xf32>, tensor<2x30x5xbf16>) -> tensor<?x2x30xf32>
  %y = seq.reshape %p : tensor<?x2x30xf32> -> tensor<?x60xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x60xf32>, tensor<?xi32>) -> tensor<?x60xf32>
  return %out : tensor<?x60xf32>
}
}
