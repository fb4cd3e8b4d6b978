// RUN: effc-opt %s --split-input-file --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// A gather reads the row of its item's index and takes in the op that follows.
// %x has two uses then, so that silu is a kernel of its own, by rows; it is the
// last tensor before rows are chosen, so its items count rows, and the choice's
// count outputs. i32 tables are not promised to be aligned.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x5xbf16>

// CHECK-LABEL: plan.entry @decode_3 kind decode rows 3 chunk 1
// CHECK-LABEL: tile.kernel @embedding_0(
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[TOKENS:[^:,]+]]: !tile.view<?xi32, [1]>,
// CHECK-SAME: %[[TABLE:[^:,]+]]: !tile.view<11x5xbf16, [32, 1]>, %[[Y:[^:,]+]]: !tile.view<?x5xf32, [16, 1]>)
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 1>) writes(2) streamed(1) aligned(1, 2)
// CHECK: %[[AT:.*]] = tile.read %[[TOKENS]][%[[ITEM]]]
// CHECK: %[[ROW:.*]] = tile.load %[[TABLE]][%[[AT]], %{{.*}}] sizes [1, 5]
// CHECK: %[[COPY:.*]] = tile.map(%[[ROW]])
// CHECK: %[[NEG:.*]] = tile.map(%[[COPY]])
// CHECK: arith.negf
// CHECK: tile.store %[[NEG]], %[[Y]][%[[ITEM]], %{{.*}}] sizes [1, 5]

// CHECK-LABEL: tile.kernel @elementwise_1(
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x5xf32, [16, 1]>, %[[Y:[^:,]+]]: !tile.view<?x5xf32, [16, 1]>)
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 1>) writes(1) aligned(0, 1)
// CHECK: %[[A:.*]] = tile.load %[[X]][%[[ITEM]], %{{.*}}] sizes [1, 5]
// CHECK: %[[S:.*]] = tile.map(%[[A]])
// CHECK: %[[P:.*]] = tile.map(%[[A]], %[[S]])
// CHECK: tile.store %[[P]], %[[Y]]

// CHECK-LABEL: tile.kernel @select_rows_2(
// CHECK-SAME: !tile.view<?x5xf32, [16, 1]>, %{{.*}}: !tile.view<?x5xf32, [5, 1]>)
// CHECK-SAME: items(#tile.items<outputs, tile = 1, times = 1>)
func.func @decode_3(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x5xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 3>} {
  %table = seq.parameter @table : tensor<11x5xbf16>
  %e = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xbf16>) -> tensor<?x5xf32>
  %x = seq.neg %e : tensor<?x5xf32>
  %s = seq.silu %x : tensor<?x5xf32>
  %p = seq.mul %x, %s : tensor<?x5xf32>
  %out = seq.select_rows %p, %rows : (tensor<?x5xf32>, tensor<?xi32>) -> tensor<?x5xf32>
  return %out : tensor<?x5xf32>
}
}

// -----

// Of a tensor of rank 3 an item is a row of the last dimension: 2 of them a token.
// What is repeated along it is one number.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x8xf32>

// CHECK-LABEL: tile.kernel @elementwise_1(
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 2>)
// CHECK: tile.load %{{.*}} sizes [1, 1, 3]
// CHECK: tile.read %{{.*}} -> f32
// CHECK: tile.store %{{.*}} sizes [1, 1, 3]
func.func @decode_3(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x6xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 3>} {
  %table = seq.parameter @table : tensor<11x8xf32>
  %e = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x8xf32>) -> tensor<?x8xf32>
  %x = seq.slice %e {axis = 1 : i64, offset = 0 : i64, size = 6 : i64} : tensor<?x8xf32> -> tensor<?x6xf32>
  %g = seq.slice %e {axis = 1 : i64, offset = 6 : i64, size = 2 : i64} : tensor<?x8xf32> -> tensor<?x2xf32>
  %heads = seq.reshape %x : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %gates = seq.broadcast %g along %heads {dimensions = array<i64: 0, 1>} : tensor<?x2xf32>, tensor<?x2x3xf32>
  %p = seq.mul %heads, %gates : tensor<?x2x3xf32>
  %y = seq.reshape %p : tensor<?x2x3xf32> -> tensor<?x6xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
  return %out : tensor<?x6xf32>
}
}

// -----

// A column of a tensor of rank 3 has its elements apart, which no row may: an item is
// one of them.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x8xf32>

// CHECK-LABEL: tile.kernel @elementwise_1(
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 4>)
// CHECK: tile.load %{{.*}} sizes [1, 1, 1]
// CHECK: tile.store %{{.*}} sizes [1, 1, 1]
func.func @decode_3(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x4xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 3>} {
  %table = seq.parameter @table : tensor<11x8xf32>
  %e = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x8xf32>) -> tensor<?x8xf32>
  %pairs = seq.reshape %e : tensor<?x8xf32> -> tensor<?x4x2xf32>
  %a = seq.slice %pairs {axis = 2 : i64, offset = 0 : i64, size = 1 : i64} : tensor<?x4x2xf32> -> tensor<?x4x1xf32>
  %b = seq.slice %pairs {axis = 2 : i64, offset = 1 : i64, size = 1 : i64} : tensor<?x4x2xf32> -> tensor<?x4x1xf32>
  %sum = seq.add %a, %b : tensor<?x4x1xf32>
  %y = seq.reshape %sum : tensor<?x4x1xf32> -> tensor<?x4xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x4xf32>, tensor<?xi32>) -> tensor<?x4xf32>
  return %out : tensor<?x4xf32>
}
}
