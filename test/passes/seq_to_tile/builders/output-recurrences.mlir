// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile > %t.mlir
// RUN: FileCheck %s --input-file %t.mlir

// A product of a single row has two recurrences of its 43 outputs behind 7 others:
// 2 heads of 6 channels, and 3 of 8. Items have 4 outputs of one head: 2 items for
// the 7, 2 for each 6, of which the second has 2 outputs, and 2 for each 8, which
// makes 12. States and numbers of heads are read before the product, each in a loop
// that runs in the recurrence's items alone: the position once, the target of head
// h at column h of the table's row, the source at h + 2. The decay is a number by
// then. Behind the product states are stored, and results where the tensor that
// joins them has them: rows first, columns behind their 24.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 512, states = [
      <name = "c", kind = matrix, growth = fixed, type = tensor<2x1x6xf32>, neutral = 0.0 : f32, offset = 0>,
      <name = "r", kind = matrix, growth = fixed, type = tensor<3x1x8xf32>, neutral = 0.0 : f32, offset = 256>]>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 11, bandwidth = 140, rereads = 133>} {
seq.weight @table source("table") : tensor<11x1024xf32>
seq.weight @w source("w") : tensor<43x1024xf32>
seq.weight @numbers source("numbers") : tensor<13x5xf32>
seq.weight @decay source("decay") : tensor<2xf32>

// CHECK-LABEL: tile.kernel @linear_1(
// CHECK-SAME: %[[NUMBERS:[^:,]+]]: !tile.view<13x5xf32, {{[^>]*}}>, %[[POSITIONS:[^:,]+]]: !tile.view<?xi64, [1]>, %[[DECAY:[^:,]+]]: !tile.view<2xf32, [1]>
// CHECK-SAME: %[[C:[^:,]+]]: !tile.view<?x2x1x6xf32, [128, 6, 6, 1]>, %[[R:[^:,]+]]: !tile.view<?x3x1x8xf32, [128, 8, 8, 1]>, %[[TABLE:[^:,]+]]: !tile.segments
// CHECK-SAME: %[[JOINED:[^:,]+]]: !tile.view<?x36xf32
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 12>)
// CHECK: %[[SLOT:.*]], %[[ROW:.*]], %{{.*}}, %{{.*}}, %[[BEGINS:.*]] = tile.segment %[[TABLE]]
// CHECK: %[[OFC:.*]]:3 = scf.for %{{.*}} to %[[TRIPSC:[^ ]*]] step
// CHECK: %[[AT:.*]] = arith.subi %{{.*}}, %c7
// CHECK: %[[HEAD:.*]] = arith.divui %[[AT]], %c6
// CHECK: %[[CHANNEL:.*]] = arith.remui %[[AT]], %c6
// CHECK: tile.load %[[C]][%[[SLOT]], %[[HEAD]], %{{.*}}, %[[CHANNEL]]] rows(%[[COUNT:[^)]*]]) sizes [1, 1, 1, 4]
// CHECK: arith.select %[[BEGINS]]
// CHECK: %[[POSITION:.*]] = tile.read %[[POSITIONS]][%[[ROW]]]
// CHECK: %[[TARGET:.*]] = tile.read %[[NUMBERS]][%[[POSITION]], %[[HEAD]]]
// CHECK: %[[LOG:.*]] = tile.read %[[DECAY]][%[[HEAD]]]
// CHECK: %[[FACTOR:.*]] = math.exp %[[LOG]]
// CHECK: scf.yield %{{.*}}, %[[FACTOR]], %[[TARGET]]
// CHECK: %[[OFR:.*]]:2 = scf.for %{{.*}} to %[[TRIPSR:[^ ]*]] step
// CHECK: %[[HEAD:.*]] = arith.divui %{{.*}}, %c8
// CHECK: tile.load %[[R]][%[[SLOT]], %[[HEAD]],
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[COLUMN:.*]] = arith.addi %[[HEAD]], %[[C2]]
// CHECK: tile.read %[[NUMBERS]][%{{.*}}, %[[COLUMN]]]
// CHECK: %[[Y:.*]] = tile.reduce add
// CHECK: scf.for %{{.*}} to %[[TRIPSC]] step
// CHECK: %[[NEXT:.*]] = tile.map(%[[OFC]]#0, %[[OFC]]#1, %[[OFC]]#2, %[[Y]])
// CHECK: arith.mulf
// CHECK: math.fma
// CHECK: tile.store %[[NEXT]], %[[C]][%[[SLOT]], {{.*}} rows(%[[COUNT]]) sizes [1, 1, 1, 4]
// CHECK: %[[OUT:.*]] = tile.map(%[[NEXT]], %[[OFC]]#1, %[[OFC]]#2, %[[Y]])
// CHECK: %[[FROM:.*]] = arith.subi %{{.*}}, %c7
// CHECK: %[[C24:.*]] = arith.constant 24 : index
// CHECK: %[[PLACE:.*]] = arith.addi %[[FROM]], %[[C24]]
// CHECK: tile.store %[[OUT]], %[[JOINED]][%{{.*}}, %[[PLACE]]] rows(%[[COUNT]]) sizes [1, 4]
// CHECK: scf.for %{{.*}} to %[[TRIPSR]] step
// CHECK: %[[NEXT:.*]] = tile.map(%[[OFR]]#0, %[[OFR]]#1, %[[Y]])
// CHECK: tile.store %[[NEXT]], %[[R]]
// CHECK: tile.store %{{.*}}, %[[JOINED]]
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>, %c: tensor<2x1x6xf32> {seq.state_name = "c"}, %r: tensor<3x1x8xf32> {seq.state_name = "r"})
    -> (tensor<?x36xf32>, tensor<2x1x6xf32>, tensor<3x1x8xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x1024xf32>
  %w = seq.parameter @w : tensor<43x1024xf32>
  %numbers = seq.parameter @numbers : tensor<13x5xf32>
  %decay = seq.parameter @decay : tensor<2xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x1024xf32>) -> tensor<?x1024xf32>
  %p = seq.linear %x, %w : (tensor<?x1024xf32>, tensor<43x1024xf32>) -> tensor<?x43xf32>
  %row = seq.embedding %positions, %numbers : (tensor<?xi32>, tensor<13x5xf32>) -> tensor<?x5xf32>
  %target = seq.slice %row {axis = 1 : i64, offset = 0 : i64, size = 2 : i64} : tensor<?x5xf32> -> tensor<?x2xf32>
  %source = seq.slice %row {axis = 1 : i64, offset = 2 : i64, size = 3 : i64} : tensor<?x5xf32> -> tensor<?x3xf32>
  %x0 = seq.slice %p {axis = 1 : i64, offset = 7 : i64, size = 12 : i64} : tensor<?x43xf32> -> tensor<?x12xf32>
  %h0 = seq.reshape %x0 : tensor<?x12xf32> -> tensor<?x2x6xf32>
  %y0, %n0 = seq.structured_recurrence %h0 target(%target) decay(%decay) state(%c) {form = #seq.form<kind = step>}
      : (tensor<?x2x6xf32>, tensor<?x2xf32>, tensor<2xf32>, tensor<2x1x6xf32>) -> (tensor<?x2x6xf32>, tensor<2x1x6xf32>)
  %f0 = seq.reshape %y0 : tensor<?x2x6xf32> -> tensor<?x12xf32>
  %x1 = seq.slice %p {axis = 1 : i64, offset = 19 : i64, size = 24 : i64} : tensor<?x43xf32> -> tensor<?x24xf32>
  %h1 = seq.reshape %x1 : tensor<?x24xf32> -> tensor<?x3x8xf32>
  %y1, %n1 = seq.structured_recurrence %h1 source(%source) state(%r) {form = #seq.form<kind = step>}
      : (tensor<?x3x8xf32>, tensor<?x3xf32>, tensor<3x1x8xf32>) -> (tensor<?x3x8xf32>, tensor<3x1x8xf32>)
  %f1 = seq.reshape %y1 : tensor<?x3x8xf32> -> tensor<?x24xf32>
  %j = seq.concat %f1, %f0 {axis = 1 : i64} : (tensor<?x24xf32>, tensor<?x12xf32>) -> tensor<?x36xf32>
  %out = seq.select_rows %j, %rows : (tensor<?x36xf32>, tensor<?xi32>) -> tensor<?x36xf32>
  return %out, %n0, %n1 : tensor<?x36xf32>, tensor<2x1x6xf32>, tensor<3x1x8xf32>
}
}
