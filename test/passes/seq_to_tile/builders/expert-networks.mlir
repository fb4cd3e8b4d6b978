// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 2 of 7 experts of 30 units and 50 channels. An item of the hidden units has 24
// of an expert, so that each of the 2 choices has 2 items; an expert has 60 rows, its
// ups 30 after its gates. An item of the outputs has 24, so that there are 3.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x57xf32>
seq.weight @gate_up source("gate_up") : tensor<420x50xf32>
seq.weight @down source("down") : tensor<350x30xf32>

// CHECK-LABEL: tile.kernel @expert_hidden_2(
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 4>)
// CHECK: %[[EXPERT:.*]] = tile.read {{.*}} -> index
// CHECK: %[[WEIGHT:.*]] = tile.read {{.*}} -> f32
// CHECK: arith.muli %[[EXPERT]], %c60
// CHECK: %[[G:.*]] = tile.pipeline stages 1 extent 50 step 50
// CHECK: %[[X:.*]] = tile.load {{.*}} sizes [1, 50]
// CHECK: %[[GATES:.*]] = tile.load {{.*}} rows({{.*}}) sizes [24, 50]
// CHECK: tile.yield %[[X]], %[[GATES]]
// CHECK: tile.dot {{.*}} transpose_b
// CHECK: arith.constant 30 : index
// CHECK: %[[U:.*]] = tile.pipeline stages 1 extent 50 step 50
// CHECK: tile.load {{.*}} rows({{.*}}) sizes [24, 50]
// CHECK: tile.dot {{.*}} transpose_b
// CHECK: tile.map(%[[G]], %[[WEIGHT]], %[[U]])
// CHECK: tile.store {{.*}} columns({{.*}}) sizes [1, 1, 24]

// CHECK-LABEL: tile.kernel @expert_output_3(
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 3>)
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: arith.muli %{{.*}}, %c50
// CHECK: tile.pipeline stages 1 extent 30 step 30 iter(%[[ACC]])
// CHECK: tile.load {{.*}} sizes [1, 1, 30]
// CHECK: tile.load {{.*}} sizes [24, 30]
// CHECK: tile.dot {{.*}} transpose_b
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x50xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x57xf32>
  %gate_up = seq.parameter @gate_up : tensor<420x50xf32>
  %down = seq.parameter @down : tensor<350x30xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x57xf32>) -> tensor<?x57xf32>
  %logits = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 7 : i64} : tensor<?x57xf32> -> tensor<?x7xf32>
  %x = seq.slice %in {axis = 1 : i64, offset = 7 : i64, size = 50 : i64} : tensor<?x57xf32> -> tensor<?x50xf32>
  %scores = seq.reshape %logits : tensor<?x7xf32> -> tensor<?x1x1x7xf32>
  %w, %chosen = seq.choose_rows %scores {top_k = 2 : i64} : tensor<?x1x1x7xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  %h = seq.expert_hidden %x, %w, %chosen, %gate_up {gated, nonlinearity = #seq.nonlinearity<silu>}
      : (tensor<?x50xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<420x50xf32>) -> tensor<?x2x30xf32>
  %y = seq.expert_output %h, %chosen, %down : (tensor<?x2x30xf32>, tensor<?x2xi32>, tensor<350x30xf32>) -> tensor<?x50xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x50xf32>, tensor<?xi32>) -> tensor<?x50xf32>
  return %out : tensor<?x50xf32>
}
}
