// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile 2>&1 | FileCheck %s
// RUN: sed 's/kind = chunkwise, chunk = 4/kind = step/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STEP

// Two corrections a token in chunks of 4 tokens: tiles of 8 rows, made of the tokens of
// either write. In the step form the body is looped over as it stands, which is no
// fallback. H, K, V = 2, 3, 5.

#h = affine_map<(h, k, v) -> (h)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 512, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<2x3x5xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x40xf32>

// CHECK-NOT: fallback
// STEP-NOT: fallback
// CHECK-LABEL: tile.kernel @recurrence_1(
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}})
// The query at the last row of its token; key and value of one write after the other.
// CHECK: tile.dot {{.*}} : <8x3xf32, accumulator>, <8x4xf32, accumulator>, <4x3xf32, operand>
// CHECK: %[[KEY:.*]] = tile.dot {{.*}} : <8x3xf32, accumulator>, <8x4xf32, accumulator>, <4x3xf32, operand>
// CHECK: %[[VALUE:.*]] = tile.dot {{.*}} : <8x5xf32, accumulator>, <8x4xf32, accumulator>, <4x5xf32, operand>
// CHECK: %[[KEYS:.*]] = tile.dot %[[KEY]], {{.*}} : <8x3xf32, accumulator>, <8x4xf32, accumulator>, <4x3xf32, operand>
// CHECK: %[[VALUES:.*]] = tile.dot %[[VALUE]], {{.*}} : <8x5xf32, accumulator>, <8x4xf32, accumulator>, <4x5xf32, operand>
// CHECK: %[[KEYROWS:.*]] = tile.map(%[[KEYS]]) : (!tile.tile<8x3xf32, accumulator>) -> !tile.tile<8x3xf32, operand>
// Rates of both writes, then decays in the first rows.
// CHECK-COUNT-2: tile.reduce add {{.*}} over rows : <4x4xf32, accumulator> -> !tile.tile<4xf32, row>
// CHECK: tile.reduce add {{.*}} over columns : <8x4xf32, accumulator> -> !tile.tile<8xf32, column>
// CHECK: tile.reduce add {{.*}} over rows : <4x4xf32, accumulator> -> !tile.tile<4xf32, row>
// CHECK: tile.reduce add {{.*}} over columns : <8x4xf32, accumulator> -> !tile.tile<8xf32, column>
// Probes are the keys.
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[KEYROWS]] transpose_b : <8x8xf32, accumulator>
// CHECK: tile.dot %{{.*}}, %[[KEYROWS]], %[[KEYROWS]] transpose_b : <8x8xf32, accumulator>
// CHECK: %[[SIDES:.*]] = tile.map(%[[VALUES]], %{{.*}}, %{{.*}}) : (!tile.tile<8x5xf32, accumulator>, !tile.tile<8xf32, column>, !tile.tile<8x5xf32, accumulator>)
// CHECK: %[[WRITTEN:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[SIDES]] : <8x5xf32, accumulator>, <8x8xf32, accumulator>, <8x5xf32, accumulator>
// CHECK: %[[OUT:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[WRITTEN]] : <8x5xf32, accumulator>
// What the last rows have read, as tokens.
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[OUT]] transpose_a : <4x5xf32, accumulator>
// CHECK: tile.store {{.*}} sizes [4, 1, 5] : <4x5xf32, {{.*}}>
// CHECK: tile.dot %{{.*}}, %{{.*}}, %[[WRITTEN]] transpose_a : <3x5xf32, accumulator>
// STEP-LABEL: tile.kernel @recurrence_1(
// STEP: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (!tile.tile<3x5xf32, accumulator>)
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s0: tensor<2x3x5xf32> {seq.state_name = "s"})
    -> (tensor<?x10xf32>, tensor<2x3x5xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x40xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x40xf32>) -> tensor<?x40xf32>
  %q1 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 6 : i64} : tensor<?x40xf32> -> tensor<?x6xf32>
  %q0 = seq.reshape %q1 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %k1 = seq.slice %in {axis = 1 : i64, offset = 6 : i64, size = 6 : i64} : tensor<?x40xf32> -> tensor<?x6xf32>
  %k0 = seq.reshape %k1 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %p1 = seq.slice %in {axis = 1 : i64, offset = 12 : i64, size = 6 : i64} : tensor<?x40xf32> -> tensor<?x6xf32>
  %p0 = seq.reshape %p1 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %v1 = seq.slice %in {axis = 1 : i64, offset = 18 : i64, size = 10 : i64} : tensor<?x40xf32> -> tensor<?x10xf32>
  %v0 = seq.reshape %v1 : tensor<?x10xf32> -> tensor<?x2x5xf32>
  %w1 = seq.slice %in {axis = 1 : i64, offset = 28 : i64, size = 10 : i64} : tensor<?x40xf32> -> tensor<?x10xf32>
  %w0 = seq.reshape %w1 : tensor<?x10xf32> -> tensor<?x2x5xf32>
  %g0 = seq.slice %in {axis = 1 : i64, offset = 38 : i64, size = 2 : i64} : tensor<?x40xf32> -> tensor<?x2xf32>
  %y, %next = seq.recurrence
      tokens(%q = %q0 : tensor<?x2x3xf32>, %k = %k0 : tensor<?x2x3xf32>, %p = %p0 : tensor<?x2x3xf32>,
             %v = %v0 : tensor<?x2x5xf32>, %w = %w0 : tensor<?x2x5xf32>, %g = %g0 : tensor<?x2xf32>)
      parameters() states(%s = %s0 : tensor<2x3x5xf32>) -> (tensor<?x2x5xf32>), (tensor<2x3x5xf32>)
      attributes {form = #seq.form<kind = chunkwise, chunk = 4>} {
    %f = seq.sigmoid %g : tensor<2xf32>
    %kept = seq.contract %f, %s {indexing_maps = [#h, #state, #state]} : (tensor<2xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %seen = seq.contract %k, %kept {indexing_maps = [#key, #state, #value]} : (tensor<2x3xf32>, tensor<2x3x5xf32>) -> tensor<2x5xf32>
    %error = seq.sub %v, %seen : tensor<2x5xf32>
    %written = seq.contract %k, %error {indexing_maps = [#key, #value, #state]} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
    %half = seq.add %kept, %written : tensor<2x3x5xf32>
    %again = seq.contract %p, %half {indexing_maps = [#key, #state, #value]} : (tensor<2x3xf32>, tensor<2x3x5xf32>) -> tensor<2x5xf32>
    %rest = seq.sub %w, %again : tensor<2x5xf32>
    %more = seq.contract %p, %rest {indexing_maps = [#key, #value, #state]} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
    %after = seq.add %half, %more : tensor<2x3x5xf32>
    %read = seq.contract %q, %after {indexing_maps = [#key, #state, #value]} : (tensor<2x3xf32>, tensor<2x3x5xf32>) -> tensor<2x5xf32>
    seq.yield %read, %after : tensor<2x5xf32>, tensor<2x3x5xf32>
  }
  %y0 = seq.reshape %y : tensor<?x2x5xf32> -> tensor<?x10xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x10xf32>, tensor<?xi32>) -> tensor<?x10xf32>
  return %out, %next : tensor<?x10xf32>, tensor<2x3x5xf32>
}
}
