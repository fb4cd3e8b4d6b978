// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// What is repeated is read where it lies, 0 elements on: a number for each channel
// as a row, a number for each token as a scalar, or as a column of the rows that an
// item takes at once.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x20xf32>
seq.weight @w source("w") : tensor<20x20xf32>
seq.weight @g source("g") : tensor<1x20xf32>
seq.weight @r source("r") : tensor<20xf32>

// CHECK-LABEL: tile.kernel @elementwise_2(
// CHECK-SAME: %[[R:[^:,]+]]: !tile.view<?x20xf32, [0, 1]>
// CHECK: tile.load %[[R]]{{.*}} sizes [1, 20] : <?x20xf32, [0, 1]> -> <20xf32, row>

// CHECK-LABEL: tile.kernel @elementwise_3(
// CHECK: %[[ONE:.*]] = tile.read {{.*}} : <?x20xf32, [16, 0]> -> f32
// CHECK: tile.map(%{{.*}}, %[[ONE]]) : (!tile.tile<20xf32, row>, f32)

// CHECK-LABEL: tile.kernel @linear_4(
// CHECK-SAME: !tile.view<?x20xf32, [16, 0]>
// CHECK: %[[GATE:.*]] = tile.load {{.*}} rows({{.*}}) sizes [4, 1] : <?x20xf32, [16, 0]> -> <4xf32, column>
// CHECK: tile.map(%{{.*}}, %[[GATE]]) : (!tile.tile<4x12xf32, accumulator>, !tile.tile<4xf32, column>)
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x20xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x20xf32>
  %w = seq.parameter @w : tensor<20x20xf32>
  %gate = seq.parameter @g : tensor<1x20xf32>
  %r = seq.parameter @r : tensor<20xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x20xf32>) -> tensor<?x20xf32>
  %l = seq.linear %x, %gate : (tensor<?x20xf32>, tensor<1x20xf32>) -> tensor<?x1xf32>
  %v = seq.reshape %l : tensor<?x1xf32> -> tensor<?xf32>
  %gates = seq.broadcast %v along %x {dimensions = array<i64: 0>} : tensor<?xf32>, tensor<?x20xf32>
  %channels = seq.broadcast %r along %x {dimensions = array<i64: 1>} : tensor<20xf32>, tensor<?x20xf32>
  %skip = seq.mul %x, %channels : tensor<?x20xf32>
  %f = seq.linear %skip, %w : (tensor<?x20xf32>, tensor<20x20xf32>) -> tensor<?x20xf32>
  %y = seq.mul %f, %gates : tensor<?x20xf32>
  %z = seq.mul %x, %gates : tensor<?x20xf32>
  %s = seq.sub %y, %z : tensor<?x20xf32>
  %out = seq.select_rows %s, %rows : (tensor<?x20xf32>, tensor<?xi32>) -> tensor<?x20xf32>
  return %out : tensor<?x20xf32>
}
}
