// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 6 heads in 2 groups, so 3 heads share keys: an item is one head of one segment,
// head = item mod 6, group = head / 3. K, V = 4, 5; a row of the table holds x (30),
// dt (6), b (8) and c (8), 52 f32, padded to 64. A slot has 512 bytes, 128 f32.
// A token takes 5 K V = 100 FLOPs of each head.
// Prefill walks the segment's rows with the state as carried tile, two at a time and then
// the odd one; decode has one.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 512, states = [
    <name = "ssd", kind = matrix, growth = fixed, type = tensor<6x4x5xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<11x52xf32>
seq.weight @h source("h") : tensor<6xf32>

// CHECK-LABEL: plan.entry @prefill_16 kind prefill rows 16 chunk 1
// CHECK: plan.launch @ssd_1({{.*}}) items <segments, tile = 1, times = 6> note "ssd" flops 600{{$}}
// CHECK-LABEL: tile.kernel @ssd_1(
// CHECK-SAME: %[[ITEM:[^,]*]],
// CHECK-SAME: %[[STATE:[^,]*]]: !tile.view<?x6x4x5xf32, [128, 20, 5, 1]>
// CHECK: %[[HEAD:.*]] = arith.remui %[[ITEM]], %c6
// CHECK: arith.divui %[[HEAD]], %c3
// CHECK: %[[SLOT:.*]], %[[FIRST:.*]], %[[LENGTH:.*]], %{{.*}}, %[[BEGINS:.*]] = tile.segment
// CHECK: %[[OLD:.*]] = tile.load %[[STATE]][%[[SLOT]], %[[HEAD]], {{.*}}] sizes [1, 1, 4, 5]
// CHECK: arith.select %[[BEGINS]]
// CHECK: %[[INIT:.*]] = tile.map(%[[OLD]], %{{.*}})
// CHECK: %[[PAIRS:.*]] = arith.divui %[[LENGTH]], %c2
// CHECK: %[[EVEN:.*]] = arith.muli %[[PAIRS]], %c2
// CHECK: %[[PAST:.*]] = scf.for %[[T0:.*]] = %c0{{[_0-9]*}} to %[[EVEN]] step %c2{{[_0-9]*}} iter_args(%[[S0:.*]] = %[[INIT]])
// CHECK: %[[ROW0:.*]] = arith.addi %[[FIRST]], %[[T0]]
// CHECK: %[[T1:.*]] = arith.addi %[[T0]], %c1
// CHECK: %[[ROW1:.*]] = arith.addi %[[FIRST]], %[[T1]]
// CHECK: %[[S1:.*]] = tile.map(%[[S0]], %{{.*}}, %{{.*}}, %{{.*}}) : (!tile.tile<4x5xf32, accumulator>, !tile.tile<4xf32, column>, !tile.tile<5xf32, row>, f32)
// CHECK: tile.map(%[[S1]], %{{.*}}) : (!tile.tile<4x5xf32, accumulator>, !tile.tile<4xf32, column>)
// CHECK: tile.reduce add
// CHECK: %[[S2:.*]] = tile.map(%[[S1]], %{{.*}}, %{{.*}}, %{{.*}}) : (!tile.tile<4x5xf32, accumulator>, !tile.tile<4xf32, column>, !tile.tile<5xf32, row>, f32)
// CHECK: tile.map(%[[S2]], %{{.*}}) : (!tile.tile<4x5xf32, accumulator>, !tile.tile<4xf32, column>)
// CHECK: tile.reduce add
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[ROW0]], %[[HEAD]], {{.*}}] sizes [1, 1, 5]
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[ROW1]], %[[HEAD]], {{.*}}] sizes [1, 1, 5]
// CHECK: scf.yield %[[S2]]
// CHECK: %[[LAST:.*]] = scf.for %[[T:.*]] = %[[EVEN]] to %[[LENGTH]] {{.*}} iter_args(%[[S:.*]] = %[[PAST]])
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[T]]
// CHECK: %[[NEXT:.*]] = tile.map(%[[S]], %{{.*}}, %{{.*}}, %{{.*}}) : (!tile.tile<4x5xf32, accumulator>, !tile.tile<4xf32, column>, !tile.tile<5xf32, row>, f32)
// CHECK: math.fma
// CHECK: %[[WEIGHTED:.*]] = tile.map(%[[NEXT]], %{{.*}})
// CHECK: tile.reduce add %[[WEIGHTED]] over rows
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[ROW]], %[[HEAD]], {{.*}}] sizes [1, 1, 5]
// CHECK: scf.yield %[[NEXT]]
// CHECK: tile.store %[[LAST]], %[[STATE]][%[[SLOT]], %[[HEAD]], {{.*}}] sizes [1, 1, 4, 5]
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<6x4x5xf32> {seq.state_name = "ssd"})
    -> (tensor<?x30xf32>, tensor<6x4x5xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x52xf32>
  %h = seq.parameter @h : tensor<6xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x52xf32>) -> tensor<?x52xf32>
  %x0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 30 : i64} : tensor<?x52xf32> -> tensor<?x30xf32>
  %dt = seq.slice %in {axis = 1 : i64, offset = 30 : i64, size = 6 : i64} : tensor<?x52xf32> -> tensor<?x6xf32>
  %b0 = seq.slice %in {axis = 1 : i64, offset = 36 : i64, size = 8 : i64} : tensor<?x52xf32> -> tensor<?x8xf32>
  %c0 = seq.slice %in {axis = 1 : i64, offset = 44 : i64, size = 8 : i64} : tensor<?x52xf32> -> tensor<?x8xf32>
  %x = seq.reshape %x0 : tensor<?x30xf32> -> tensor<?x6x5xf32>
  %b = seq.reshape %b0 : tensor<?x8xf32> -> tensor<?x2x4xf32>
  %c = seq.reshape %c0 : tensor<?x8xf32> -> tensor<?x2x4xf32>
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%h, %h, %h) state(%s) {form = #seq.form<kind = step>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x4x5xf32>
  %y0 = seq.reshape %y : tensor<?x6x5xf32> -> tensor<?x30xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x30xf32>, tensor<?xi32>) -> tensor<?x30xf32>
  return %out, %next : tensor<?x30xf32>, tensor<6x4x5xf32>
}

// CHECK-LABEL: plan.entry @decode_2 kind decode rows 2 chunk 1
// CHECK-LABEL: tile.kernel @ssd_
// CHECK-NOT: scf.for
// CHECK: %[[NEXT:.*]] = tile.map(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NOT: scf.for
// CHECK: tile.store %[[NEXT]], {{.*}} sizes [1, 1, 4, 5]
func.func @decode_2(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<6x4x5xf32> {seq.state_name = "ssd"})
    -> (tensor<?x30xf32>, tensor<6x4x5xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %table = seq.parameter @table : tensor<11x52xf32>
  %h = seq.parameter @h : tensor<6xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x52xf32>) -> tensor<?x52xf32>
  %x0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 30 : i64} : tensor<?x52xf32> -> tensor<?x30xf32>
  %dt = seq.slice %in {axis = 1 : i64, offset = 30 : i64, size = 6 : i64} : tensor<?x52xf32> -> tensor<?x6xf32>
  %b0 = seq.slice %in {axis = 1 : i64, offset = 36 : i64, size = 8 : i64} : tensor<?x52xf32> -> tensor<?x8xf32>
  %c0 = seq.slice %in {axis = 1 : i64, offset = 44 : i64, size = 8 : i64} : tensor<?x52xf32> -> tensor<?x8xf32>
  %x = seq.reshape %x0 : tensor<?x30xf32> -> tensor<?x6x5xf32>
  %b = seq.reshape %b0 : tensor<?x8xf32> -> tensor<?x2x4xf32>
  %c = seq.reshape %c0 : tensor<?x8xf32> -> tensor<?x2x4xf32>
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%h, %h, %h) state(%s) {form = #seq.form<kind = step>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x4x5xf32>
  %y0 = seq.reshape %y : tensor<?x6x5xf32> -> tensor<?x30xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x30xf32>, tensor<?xi32>) -> tensor<?x30xf32>
  return %out, %next : tensor<?x30xf32>, tensor<6x4x5xf32>
}
}
