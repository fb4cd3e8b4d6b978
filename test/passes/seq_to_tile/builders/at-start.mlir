// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// An item compares the position of its token, and stores one number.
// CHECK-LABEL: tile.kernel @at_start_1(
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[POSITIONS:[^:,]+]]: !tile.view<?xi64, [1]>, %[[Y:[^:,]+]]: !tile.view<?xf32
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 1>)
// CHECK: %[[AT:.*]] = tile.read %[[POSITIONS]][%[[ITEM]]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[AT]], %{{.*}} : index
// CHECK: %[[MARK:.*]] = arith.select %[[FIRST]], %{{.*}}, %{{.*}} : f32
// CHECK: %[[ROW:.*]] = tile.map(%[[MARK]]
// CHECK: tile.store %[[ROW]], %[[Y]][%[[ITEM]]] sizes [1]
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x5xf32>
func.func @decode_3(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>) -> tensor<?x5xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 3>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  %e = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  %first = seq.at_start %positions : tensor<?xi32> -> tensor<?xf32>
  %x = seq.recurrence tokens(%r = %e : tensor<?x5xf32>, %f = %first : tensor<?xf32>) parameters() states()
      -> (tensor<?x5xf32>), () attributes {form = #seq.form<kind = step>} {
    %like = seq.broadcast %f along %r {dimensions = array<i64>} : tensor<f32>, tensor<5xf32>
    %y = seq.mul %r, %like : tensor<5xf32>
    seq.yield %y : tensor<5xf32>
  }
  %out = seq.select_rows %x, %rows : (tensor<?x5xf32>, tensor<?xi32>) -> tensor<?x5xf32>
  return %out : tensor<?x5xf32>
}
}
