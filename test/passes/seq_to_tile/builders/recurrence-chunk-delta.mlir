// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// Rank-one corrections in chunks of 4 tokens. The values that are written solve a
// triangular system, whose inverse is put together from halves. K, V = 3, 5.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 512, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<6x3x5xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x48xf32>

// CHECK-LABEL: tile.kernel @delta_rule_1(
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}})
// What queries and probes see of keys.
// CHECK: tile.dot {{.*}} transpose_b : <4x4xf32, accumulator>, <4x3xf32, operand>, <4x3xf32, operand>
// CHECK: tile.dot {{.*}} transpose_b : <4x4xf32, accumulator>, <4x3xf32, operand>, <4x3xf32, operand>
// What probes read of the state before.
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[S]] : <4x5xf32, accumulator>
// CHECK: %[[SIDES:.*]] = tile.map({{.*}} : (!tile.tile<4x5xf32, operand>, !tile.tile<4xf32, column>, !tile.tile<4x5xf32, accumulator>)
// From the inverses of two halves that of the whole.
// CHECK: %[[REACHING:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[HALVES:.*]] : <4x4xf32, accumulator>
// CHECK: %[[INVERSE:.*]] = tile.dot %[[HALVES]], %[[HALVES]], %[[REACHING]] : <4x4xf32, accumulator>
// CHECK: %[[WRITTEN:.*]] = tile.dot %{{.*}}, %[[INVERSE]], %[[SIDES]] : <4x5xf32, accumulator>
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[S]] : <4x5xf32, accumulator>
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[WRITTEN]] : <4x5xf32, accumulator>
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[WRITTEN]] transpose_a : <3x5xf32, accumulator>
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<6x3x5xf32> {seq.state_name = "s"})
    -> (tensor<?x30xf32>, tensor<6x3x5xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x48xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x48xf32>) -> tensor<?x48xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 6 : i64} : tensor<?x48xf32> -> tensor<?x6xf32>
  %q = seq.reshape %q0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 6 : i64, size = 6 : i64} : tensor<?x48xf32> -> tensor<?x6xf32>
  %k = seq.reshape %k0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 12 : i64, size = 30 : i64} : tensor<?x48xf32> -> tensor<?x30xf32>
  %v = seq.reshape %v0 : tensor<?x30xf32> -> tensor<?x6x5xf32>
  %b0 = seq.slice %in {axis = 1 : i64, offset = 42 : i64, size = 6 : i64} : tensor<?x48xf32> -> tensor<?x6xf32>
  %y, %next = seq.delta_rule %q, %k, %v, %b0 state(%s) {form = #seq.form<kind = chunkwise, chunk = 4>}
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  %y0 = seq.reshape %y : tensor<?x6x5xf32> -> tensor<?x30xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x30xf32>, tensor<?xi32>) -> tensor<?x30xf32>
  return %out, %next : tensor<?x30xf32>, tensor<6x3x5xf32>
}
}
