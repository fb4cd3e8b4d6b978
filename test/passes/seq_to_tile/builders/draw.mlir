// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s
// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=STABLE

// Tokens drawn from 70 logits: the call's table of draws has four words for each
// row whose token is wanted. A single row reads them as numbers, several as
// columns; each output's number, the words and nothing else make its noise.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @w source("w") : tensor<70x192xbf16>
seq.weight @table source("table") : tensor<11x192xf32>

// CHECK-LABEL: plan.entry @decode_1
// CHECK: %[[DRAWS:.*]] = plan.table draws
// CHECK: plan.launch @lm_head_3({{.*}}, %[[DRAWS]], %[[BETWEEN:.*]]) items <outputs, tile = 1, times = 2>
// CHECK: plan.launch @lm_head_3_best(%[[BETWEEN]], %{{.*}})

// CHECK-LABEL: tile.kernel @lm_head_3(
// CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to %{{.*}} step %c16
// CHECK: %[[L:.*]] = tile.reduce add {{.*}} -> !tile.tile<16xf32, column>
// CHECK: %[[SCALE:.*]] = tile.read %[[TABLE:.*]][%[[ROW:.*]], %c0{{.*}}] : <?x4xf32, [4, 1]>
// CHECK: %[[AMOUNT:.*]] = tile.read %[[TABLE]][%[[ROW]], %c1{{.*}}]
// CHECK: %[[KEY:.*]] = tile.read %[[TABLE]][%[[ROW]], %c2{{.*}}]
// CHECK: %[[COUNTER:.*]] = tile.read %[[TABLE]][%[[ROW]], %c3{{.*}}]
// CHECK: tile.map(%[[L]], %[[SCALE]], %[[AMOUNT]], %[[KEY]], %[[COUNTER]])
// CHECK: ^bb0(%[[LE:.*]]: f32, %[[SE:.*]]: f32, %[[AE:.*]]: f32, %[[KE:.*]]: f32, %[[CE:.*]]: f32):
// CHECK: %[[PLACE:.*]] = tile.row_index
// CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[PLACE]] : index
// CHECK: arith.index_cast %[[NUMBER]] : index to i32
// CHECK-COUNT-10: arith.extui
// CHECK-NOT: arith.extui
// CHECK-NOT: math.
// CHECK: %[[SCALED:.*]] = arith.mulf %[[LE]], %[[SE]]
// CHECK: %[[NOISE:.*]] = arith.mulf %[[AE]], %{{.*}}
// CHECK: arith.addf %[[SCALED]], %[[NOISE]]

// STABLE-LABEL: tile.kernel @lm_head_3(
// STABLE: tile.dot
// STABLE: tile.load %[[TABLE:.*]][%[[ROW:.*]], %c0{{.*}}] rows(%[[ROWS:.*]]) sizes [16, 1] : <?x4xf32, [4, 1]> -> <16xf32, column>
// STABLE-COUNT-3: tile.load %[[TABLE]][%[[ROW]], {{.*}}] rows(%[[ROWS]]) sizes [16, 1]
// STABLE: tile.map({{.*}}) : (!tile.tile<16x16xf32, accumulator>, !tile.tile<16xf32, column>, !tile.tile<16xf32, column>, !tile.tile<16xf32, column>, !tile.tile<16xf32, column>)
// STABLE: tile.column_index
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %draws: tensor<?x4xi32>) -> (tensor<?x70xf32>, tensor<?x2xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %w = seq.parameter @w : tensor<70x192xbf16>
  %table = seq.parameter @table : tensor<11x192xf32>
  %e = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x192xf32>) -> tensor<?x192xf32>
  %x = seq.select_rows %e, %rows : (tensor<?x192xf32>, tensor<?xi32>) -> tensor<?x192xf32>
  %y = seq.lm_head %x, %w : (tensor<?x192xf32>, tensor<70x192xbf16>) -> tensor<?x70xf32>
  %z = seq.lm_head %x, %w : (tensor<?x192xf32>, tensor<70x192xbf16>) -> tensor<?x70xf32>
  %c = seq.best %z draws(%draws : tensor<?x4xi32>) : tensor<?x70xf32> -> tensor<?x2xf32>
  return %y, %c : tensor<?x70xf32>, tensor<?x2xf32>
}
}
