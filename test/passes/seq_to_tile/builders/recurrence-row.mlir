// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile 2> /dev/null | FileCheck %s

// On a GPU a recurrence of two rows reads its numbers of heads in the table's rows
// that the call names: of head h the number at 3 + h. Nothing copies the rows.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 64, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<2x1x6xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x12xf32>
seq.weight @numbers source("numbers") : tensor<13x5xf32>

// CHECK-NOT: !tile.view<?x5xf32
// CHECK-LABEL: tile.kernel @structured_recurrence_1(
// CHECK-SAME: %[[NUMBERS:[^:,]+]]: !tile.view<13x5xf32, [16, 1]>, %[[POSITIONS:[^:,]+]]: !tile.view<?xi64, [1]>
// CHECK: %{{.*}}, %[[ROW:.*]], %{{.*}}, %{{.*}}, %{{.*}} = tile.segment
// CHECK: %[[POSITION:.*]] = tile.read %[[POSITIONS]][%[[ROW]]] : {{.*}} -> index
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[C3]]
// CHECK-NEXT: tile.read %[[NUMBERS]][%[[POSITION]], %[[COLUMN]]] : {{.*}} -> f32
func.func @decode_2(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>, %s: tensor<2x1x6xf32> {seq.state_name = "s"})
    -> (tensor<?x2x6xf32>, tensor<2x1x6xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %table = seq.parameter @table : tensor<11x12xf32>
  %numbers = seq.parameter @numbers : tensor<13x5xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x12xf32>) -> tensor<?x12xf32>
  %row = seq.embedding %positions, %numbers : (tensor<?xi32>, tensor<13x5xf32>) -> tensor<?x5xf32>
  %target = seq.slice %row {axis = 1 : i64, offset = 3 : i64, size = 2 : i64} : tensor<?x5xf32> -> tensor<?x2xf32>
  %h = seq.reshape %x : tensor<?x12xf32> -> tensor<?x2x6xf32>
  %y, %next = seq.structured_recurrence %h target(%target) state(%s) {form = #seq.form<kind = step>}
      : (tensor<?x2x6xf32>, tensor<?x2xf32>, tensor<2x1x6xf32>) -> (tensor<?x2x6xf32>, tensor<2x1x6xf32>)
  return %y, %next : tensor<?x2x6xf32>, tensor<2x1x6xf32>
}
}
