// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s
// RUN: sed -e 's/chunkwise, chunk = 8/quadratic/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=QUADRATIC

// Chunks of 8 tokens on the grid of the sequence: the first ends where (start mod 8)
// does, so (start mod 8 + length) / 8, rounded up, chunks. K, V = 4, 5. Exponents are
// running sums, of which none is subtracted. The quadratic form is one chunk of the
// entry's 16 rows, wherever it starts.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 512, states = [
    <name = "ssd", kind = matrix, growth = fixed, type = tensor<6x4x5xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<11x52xf32>
seq.weight @h source("h") : tensor<6xf32>

// CHECK-LABEL: plan.entry @prefill_16 kind prefill rows 16 chunk 8
// CHECK: plan.launch @ssd_1({{.*}}) items <segments, tile = 1, times = 6> note "ssd"
// CHECK-LABEL: tile.kernel @ssd_1(
// CHECK: %{{.*}}, %[[FIRST:.*]], %[[LENGTH:.*]], %[[START:.*]], %{{.*}} = tile.segment
// CHECK: %[[OFFSET:.*]] = arith.remui %[[START]], %c8
// CHECK: %[[END:.*]] = arith.addi %[[OFFSET]], %[[LENGTH]]
// CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}})
// CHECK: %[[FROM:.*]] = arith.maxsi %{{.*}}, %[[OFFSET]]
// CHECK: %[[TO:.*]] = arith.minsi %{{.*}}, %[[END]]
// CHECK: %[[ROWS:.*]] = arith.subi %[[TO]], %[[FROM]]
// CHECK: tile.load {{.*}} rows(%[[ROWS]]) sizes [8, 1, 4]
// Keys, values and log-decays of rows past the end are 0.
// CHECK-COUNT-3: arith.cmpi slt, %{{.*}}, %[[ROWS]]
// CHECK: tile.scan %[[DECAY:.*]] exp :
// CHECK: tile.scan %[[DECAY]] reverse exp :
// CHECK: tile.reduce add %[[DECAY]] over columns
// CHECK: tile.dot {{.*}} transpose_b : <8x8xf32, accumulator>, <8x4xf32, operand>, <8x4xf32, operand>
// CHECK: tile.segment_decay %[[DECAY]] : <8xf32, column> -> <8x8xf32, accumulator>
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[S]] : <8x5xf32, accumulator>, <8x4xf32, operand>, <4x5xf32, accumulator>
// CHECK: tile.store {{.*}} rows(%[[ROWS]]) sizes [8, 1, 5]
// CHECK: tile.dot {{.*}} transpose_a : <4x5xf32, accumulator>, <8x4xf32, operand>, <8x5xf32, operand>

// QUADRATIC-LABEL: plan.entry @prefill_16 kind prefill rows 16 chunk 1
// QUADRATIC-LABEL: tile.kernel @ssd_1(
// QUADRATIC: %{{.*}}, %{{.*}}, %[[LENGTH:.*]], %{{.*}}, %{{.*}} = tile.segment
// QUADRATIC: arith.addi %c0{{.*}}, %[[LENGTH]]
// QUADRATIC: tile.segment_decay {{.*}} -> <16x16xf32, accumulator>
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
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%h, %h, %h) state(%s) {form = #seq.form<kind = chunkwise, chunk = 8>}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x4x5xf32>
  %y0 = seq.reshape %y : tensor<?x6x5xf32> -> tensor<?x30xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x30xf32>, tensor<?xi32>) -> tensor<?x30xf32>
  return %out, %next : tensor<?x30xf32>, tensor<6x4x5xf32>
}
}
