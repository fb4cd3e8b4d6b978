// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 40 channels are 2 blocks of 32, the last one limited to 8. The slot has 512
// bytes, 128 f32, and the tail 2 rows of 40. A tail counts as 0 where a sequence
// begins, whatever it holds. In prefill the last 2 inputs are carried from row to
// row; in decode there is one row and no loop.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 512, states = [
    <name = "tail", kind = tail, growth = fixed, type = tensor<2x40xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<11x40xf32>
seq.weight @w source("w") : tensor<3x40xf32>

// CHECK-LABEL: plan.entry @prefill_16
// CHECK: %[[STATE:.*]] = plan.state "tail"
// CHECK: %[[SEGMENTS:.*]] = plan.table segments
// CHECK: plan.launch @short_convolution_1(%{{.*}}, %{{.*}}, %[[STATE]], %[[SEGMENTS]], %{{.*}}) items <segments, tile = 1, times = 2>

// CHECK-LABEL: tile.kernel @short_convolution_1(
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x40xf32, [48, 1]>, %[[W:[^:,]+]]: !tile.view<3x40xf32, [48, 1]>,
// CHECK-SAME: %[[TAIL:[^:,]+]]: !tile.view<?x2x40xf32, [128, 40, 1]>, %[[TABLE:[^:,]+]]: !tile.segments,
// CHECK-SAME: writes(2, 4)
// CHECK: %[[BLOCK:.*]] = arith.remui %[[ITEM]], %c2
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c32
// CHECK: %[[COLUMNS:.*]] = arith.minsi
// CHECK: %[[SLOT:.*]], %{{.*}}, %[[LENGTH:.*]], %{{.*}}, %[[BEGINS:.*]] = tile.segment %[[TABLE]]
// CHECK-COUNT-3: tile.load %[[W]][{{.*}}] columns(%[[COLUMNS]]) sizes [1, 32]
// CHECK: arith.select %[[BEGINS]]
// CHECK-COUNT-2: tile.load %[[TAIL]][%[[SLOT]], {{.*}}] columns(%[[COLUMNS]]) sizes [1, 1, 32]
// CHECK: %[[LAST:.*]]:2 = scf.for {{.*}} to %[[LENGTH]] {{.*}} iter_args(%[[OLDER:.*]] = %{{.*}}, %[[OLD:.*]] = %{{.*}})
// CHECK: %[[NEW:.*]] = tile.load %[[X]]
// CHECK: tile.map(%{{.*}}, %{{.*}}, %{{.*}}, %[[OLDER]], %[[OLD]], %[[NEW]])
// CHECK-COUNT-3: math.fma
// CHECK: math.exp
// CHECK: tile.store
// CHECK: scf.yield %[[OLD]], %[[NEW]]
// CHECK: tile.store %[[LAST]]#0, %[[TAIL]][%[[SLOT]], %c0{{.*}}] columns(%[[COLUMNS]])
// CHECK: tile.store %[[LAST]]#1, %[[TAIL]][%[[SLOT]], %c1{{.*}}] columns(%[[COLUMNS]])
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %tail: tensor<2x40xf32> {seq.state_name = "tail"})
    -> (tensor<?x40xf32>, tensor<2x40xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x40xf32>
  %w = seq.parameter @w : tensor<3x40xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x40xf32>) -> tensor<?x40xf32>
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      {activation = #seq.activation<silu>} : tensor<?x40xf32>, (tensor<3x40xf32>), tensor<2x40xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x40xf32>, tensor<?xi32>) -> tensor<?x40xf32>
  return %out, %next : tensor<?x40xf32>, tensor<2x40xf32>
}

// CHECK-LABEL: plan.entry @decode_1
// CHECK-LABEL: tile.kernel @short_convolution_
// CHECK-NOT: scf.for
// CHECK: %[[NEW:.*]] = tile.load %{{.*}} sizes [1, 32]
// CHECK: tile.store {{.*}} sizes [1, 32]
// CHECK: tile.store {{.*}} sizes [1, 1, 32]
// CHECK: tile.store {{.*}} sizes [1, 1, 32]
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %tail: tensor<2x40xf32> {seq.state_name = "tail"})
    -> (tensor<?x40xf32>, tensor<2x40xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x40xf32>
  %w = seq.parameter @w : tensor<3x40xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x40xf32>) -> tensor<?x40xf32>
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      {activation = #seq.activation<none>} : tensor<?x40xf32>, (tensor<3x40xf32>), tensor<2x40xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x40xf32>, tensor<?xi32>) -> tensor<?x40xf32>
  return %out, %next : tensor<?x40xf32>, tensor<2x40xf32>
}
}
