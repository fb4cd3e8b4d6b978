// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile --verify-diagnostics=only-expected | FileCheck %s

// As recurrence-pieces.mlir, with decays per key channel: they add up in a column.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 55296, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<2x96x72xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 600, cores = 132, bandwidth = 1678, rereads = 1600>} {
seq.weight @table source("table") : tensor<41x720xf32>

// CHECK-LABEL: plan.entry @prefill_176
// CHECK: plan.arena bytes 675840
// CHECK: plan.launch @gated_linear_attention_1({{.*}}) items <segments, tile = 1, times = 66>
// CHECK: plan.launch @gated_linear_attention_1_pieces({{.*}}) items <segments, tile = 1, times = 66>

// CHECK-LABEL: tile.kernel @gated_linear_attention_1(
// CHECK: scf.for {{.*}} iter_args(%[[S:[^ ]+]] = %{{[^,]+}}, %[[DECAYS:[^ ]+]] = %{{.*}}) -> (!tile.tile<96x24xf32, accumulator>, !tile.tile<96xf32, column>)
// No tokens are read, but what is left of them at the chunk's end.
// CHECK-NOT: <16x16xf32, accumulator>, <16x96xf32, operand>, <16x96xf32, operand>
// CHECK: %[[TOTAL:.*]] = tile.reduce max
// CHECK: tile.map(%[[DECAYS]], %[[TOTAL]])
// CHECK: tile.store {{.*}} sizes [1, 1, 96, 24]
// CHECK: tile.store {{.*}} sizes [1, 1, 96, 1]
func.func @prefill_176(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x96x72xf32> {seq.state_name = "s"})
    -> (tensor<?x144xf32>, tensor<2x96x72xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 176>} {
  %table = seq.parameter @table : tensor<41x720xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<41x720xf32>) -> tensor<?x720xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 192 : i64} : tensor<?x720xf32> -> tensor<?x192xf32>
  %q = seq.reshape %q0 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 192 : i64, size = 192 : i64} : tensor<?x720xf32> -> tensor<?x192xf32>
  %k = seq.reshape %k0 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 384 : i64, size = 144 : i64} : tensor<?x720xf32> -> tensor<?x144xf32>
  %v = seq.reshape %v0 : tensor<?x144xf32> -> tensor<?x2x72xf32>
  %g0 = seq.slice %in {axis = 1 : i64, offset = 528 : i64, size = 192 : i64} : tensor<?x720xf32> -> tensor<?x192xf32>
  %g = seq.reshape %g0 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  // expected-remark @+1 {{a call's only sequence in 11 pieces: 6 items of 11 chunks leave most of 132 cores idle}}
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%g) state(%s) {form = #seq.form<kind = chunkwise, chunk = 16>}
      : (tensor<?x2x96xf32>, tensor<?x2x96xf32>, tensor<?x2x72xf32>, tensor<?x2x96xf32>, tensor<2x96x72xf32>)
      -> (tensor<?x2x72xf32>, tensor<2x96x72xf32>)
  %y0 = seq.reshape %y : tensor<?x2x72xf32> -> tensor<?x144xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x144xf32>, tensor<?xi32>) -> tensor<?x144xf32>
  return %out, %next : tensor<?x144xf32>, tensor<2x96x72xf32>
}
}
