// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s --implicit-check-not=rounded
// RUN: sed 's/<nvptx, bit_stable = true,/& rounded_to = bf16,/' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=ROUNDED

// Decays per key channel, in chunks of 4 tokens: they are halved twice, so there are
// two products of tokens with themselves. K, V = 3, 5.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 512, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<6x3x5xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x84xf32>

// CHECK-LABEL: tile.kernel @gated_linear_attention_1(
// CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}})
// No log-decay is infinite.
// CHECK: arith.maximumf
// What a token reads of itself.
// CHECK: %[[OWN:.*]] = tile.reduce add {{.*}} over columns : <4x3xf32, operand> -> !tile.tile<4xf32, column>
// Neighbours, with the later one's decay, and halves of the chunk, with sums to its
// middle, which are a product with 0 and 1.
// CHECK: %[[X1:.*]] = tile.map(%{{.*}}, %{{.*}}, %{{.*}}) : (!tile.tile<4x3xf32, operand>, !tile.tile<4x3xf32, operand>, !tile.tile<4x3xf32, operand>)
// CHECK: %[[SUMS:.*]] = tile.dot {{.*}} : <4x3xf32, accumulator>, <4x4xf32, accumulator>, <4x3xf32, operand>
// CHECK: %[[X2:.*]] = tile.map(%{{.*}}, %{{.*}}, %[[SUMS]])
// CHECK: tile.dot %{{.*}}, %[[X1]], %[[X1]] transpose_b : <4x4xf32, accumulator>
// CHECK: tile.dot %{{.*}}, %[[X2]], %[[X2]] transpose_b : <4x4xf32, accumulator>
// What the state before gives, and what the tokens.
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[S]] : <4x5xf32, accumulator>, <4x3xf32, operand>, <3x5xf32, accumulator>
// CHECK: tile.dot {{.*}} : <4x5xf32, accumulator>, <4x4xf32, accumulator>, <4x5xf32, operand>
// The state's channels are rows: totals of the chunk as a column.
// CHECK: %[[TOTALS:.*]] = tile.dot {{.*}} transpose_a : <3x8xf32, accumulator>, <4x3xf32, operand>, <4x8xf32, operand>
// CHECK: %[[TOTAL:.*]] = tile.reduce max %[[TOTALS]] over columns
// CHECK: tile.map(%[[S]], %[[TOTAL]])
// CHECK: tile.dot {{.*}} transpose_a : <3x5xf32, accumulator>, <4x3xf32, operand>, <4x5xf32, operand>

// Where products are rounded, sums of what becomes an exponent are not.
// ROUNDED: tile.dot %{{.*}}, %[[X1:.*]], %[[X1]] transpose_b rounded to bf16
// ROUNDED: tile.dot %{{.*}}, %[[X2:.*]], %[[X2]] transpose_b rounded to bf16
// ROUNDED: tile.dot {{.*}} : <4x3xf32, accumulator>, <4x4xf32, accumulator>, <4x3xf32, operand>
// ROUNDED: tile.dot {{.*}} rounded to bf16 : <4x5xf32, accumulator>, <4x3xf32, operand>, <3x5xf32, accumulator>
// ROUNDED: tile.dot {{.*}} rounded to bf16 : <4x5xf32, accumulator>, <4x4xf32, accumulator>, <4x5xf32, operand>
// ROUNDED: tile.dot {{.*}} transpose_a : <3x8xf32, accumulator>
// ROUNDED: tile.dot {{.*}} transpose_a rounded to bf16 : <3x5xf32, accumulator>
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<6x3x5xf32> {seq.state_name = "s"})
    -> (tensor<?x30xf32>, tensor<6x3x5xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x84xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x84xf32>) -> tensor<?x84xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 18 : i64} : tensor<?x84xf32> -> tensor<?x18xf32>
  %q = seq.reshape %q0 : tensor<?x18xf32> -> tensor<?x6x3xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 18 : i64, size = 18 : i64} : tensor<?x84xf32> -> tensor<?x18xf32>
  %k = seq.reshape %k0 : tensor<?x18xf32> -> tensor<?x6x3xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 36 : i64, size = 30 : i64} : tensor<?x84xf32> -> tensor<?x30xf32>
  %v = seq.reshape %v0 : tensor<?x30xf32> -> tensor<?x6x5xf32>
  %g0 = seq.slice %in {axis = 1 : i64, offset = 66 : i64, size = 18 : i64} : tensor<?x84xf32> -> tensor<?x18xf32>
  %g = seq.reshape %g0 : tensor<?x18xf32> -> tensor<?x6x3xf32>
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%g) state(%s) {form = #seq.form<kind = chunkwise, chunk = 4>}
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  %y0 = seq.reshape %y : tensor<?x6x5xf32> -> tensor<?x30xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x30xf32>, tensor<?xi32>) -> tensor<?x30xf32>
  return %out, %next : tensor<?x30xf32>, tensor<6x3x5xf32>
}
}
