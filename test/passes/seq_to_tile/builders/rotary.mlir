// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 3 heads of 10 channels, of which 4 pairs turn and 2 channels stay. Positions are
// the table of the call, i64; neighbours are columns two elements apart.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x30xf32>
seq.weight @f source("f") : tensor<4xf32>

// CHECK-LABEL: plan.entry @prefill_16
// CHECK: %[[POSITIONS:.*]] = plan.table row_positions
// CHECK: plan.launch @rotary_{{.*}}(%[[POSITIONS]], {{.*}}) items <rows, tile = 1, times = 1>

// CHECK: tile.kernel @rotary_{{[0-9]+}}(%[[ITEM:[^:,]+]], %[[P:[^:,]+]]: !tile.view<?xi64, [1]>
// CHECK: tile.read %[[P]][%[[ITEM]]] : <?xi64, [1]> -> index
// CHECK: arith.sitofp
// CHECK: math.fma
// CHECK: math.cos
// CHECK: math.sin
// CHECK: tile.load {{.*}} sizes [1, 3, 4] : <?x3x10xf32, [32, 10, 1]> -> <3x4xf32, operand>
// CHECK: tile.store {{.*}} sizes [1, 3, 4]
// CHECK: tile.store {{.*}} sizes [1, 3, 4]
// CHECK: tile.store {{.*}} sizes [1, 3, 2]

// CHECK: tile.kernel @rotary_
// CHECK: scf.for
// CHECK: tile.load {{.*}} sizes [1, 1, 4, 1] : <?x3x5x2xf32, [32, 10, 2, 1]> -> <4xf32, column>
// CHECK: tile.store {{.*}} sizes [1, 1, 4, 1]
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x3x10xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x30xf32>
  %f = seq.parameter @f : tensor<4xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x30xf32>) -> tensor<?x30xf32>
  %x = seq.reshape %in : tensor<?x30xf32> -> tensor<?x3x10xf32>
  %y = seq.rotary half %x at(%p), %f : tensor<?x3x10xf32>, tensor<?xi32>, tensor<4xf32>
  %z = seq.rotary interleaved %y at(%p), %f : tensor<?x3x10xf32>, tensor<?xi32>, tensor<4xf32>
  return %z : tensor<?x3x10xf32>
}
}
