// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-form-kernels --convert-seq-to-tile --verify-diagnostics=only-expected | FileCheck %s
// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile 2>/dev/null | FileCheck %s --check-prefix=STABLE

// 2 heads of 96 x 72 in 3 blocks of 24 value channels are 6 items of 11 chunks,
// for 132 cores: 11 pieces. Between both launches 11 x 2 x 96 x 80 f32 are kept: a
// state and, in the columns behind its own, its decays for each block. A kernel that keeps bits stable has no
// pieces, for they depend on how many segments a call has.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 55296, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<2x96x72xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 600, cores = 132, bandwidth = 1678, rereads = 1600>} {
seq.weight @table source("table") : tensor<41x338xf32>

// CHECK-LABEL: plan.entry @prefill_176
// CHECK: %[[STATE:.*]] = plan.state "s"
// CHECK: %[[PLACES:.*]] = plan.arena bytes 675840
// CHECK: plan.launch @gated_retention_1({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 66>
// CHECK: plan.launch @gated_retention_1_pieces({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 66>

// CHECK-LABEL: tile.kernel @gated_retention_1(
// CHECK: %[[SEGMENTS:.*]] = tile.count segments
// CHECK: %[[SHARE:.*]] = arith.divui %c11{{.*}}, %[[SEGMENTS]]
// CHECK: %[[PIECES:.*]] = arith.maxsi %[[SHARE]], %c1
// CHECK: scf.for {{.*}} iter_args(%[[S:[^ ]+]] = %{{[^,]+}}, %[[DECAYS:[^ ]+]] = %{{.*}}) -> (!tile.tile<96x24xf32, accumulator>, f32)
// No scores and no outputs.
// CHECK-NOT: tile.segment_decay
// CHECK: tile.dot {{.*}} transpose_a
// CHECK: arith.addf %[[DECAYS]]
// CHECK: tile.store {{.*}} sizes [1, 1, 96, 24]
// CHECK: tile.store {{.*}} sizes [1, 1, 96, 1]

// CHECK-LABEL: tile.kernel @gated_retention_1_pieces(
// What was before a piece is the sum of what those before it add, decayed.
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (!tile.tile<96x24xf32, accumulator>)
// CHECK: tile.load {{.*}} sizes [1, 1, 96, 24]
// CHECK: %[[BEFORE:.*]] = tile.load {{.*}} sizes [1, 1, 96, 1]
// CHECK: tile.map(%[[SUM]], %{{.*}}, %[[BEFORE]])
// CHECK: math.exp
// CHECK: math.fma
// A segment of one piece has the slot to itself.
// CHECK: scf.for
// CHECK: tile.load {{.*}} sizes [1, 1, 96, 24] : <?x2x96x72xf32
// CHECK: scf.for
// CHECK: tile.segment_decay
// CHECK: scf.for
// CHECK-NEXT: tile.store {{.*}} : <96x24xf32, accumulator>, <?x2x96x72xf32

// STABLE: plan.launch @gated_retention_1({{.*}}) items <segments, tile = 1, times = 6>
// STABLE-NOT: _pieces
func.func @prefill_176(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x96x72xf32> {seq.state_name = "s"})
    -> (tensor<?x144xf32>, tensor<2x96x72xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 176>} {
  %table = seq.parameter @table : tensor<41x338xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<41x338xf32>) -> tensor<?x338xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 96 : i64} : tensor<?x338xf32> -> tensor<?x96xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 96 : i64, size = 96 : i64} : tensor<?x338xf32> -> tensor<?x96xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 192 : i64, size = 144 : i64} : tensor<?x338xf32> -> tensor<?x144xf32>
  %g = seq.slice %in {axis = 1 : i64, offset = 336 : i64, size = 2 : i64} : tensor<?x338xf32> -> tensor<?x2xf32>
  %q = seq.reshape %q0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %k = seq.reshape %k0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %v = seq.reshape %v0 : tensor<?x144xf32> -> tensor<?x2x72xf32>
  // expected-remark @+1 {{a call's only sequence in 11 pieces: 6 items of 11 chunks leave most of 132 cores idle}}
  %y, %next = seq.gated_retention %q, %k, %v, %g state(%s) {scale = 0.125 : f64, temperature = 16.0 : f64, form = #seq.form<kind = chunkwise, chunk = 16>}
      : (tensor<?x1x96xf32>, tensor<?x1x96xf32>, tensor<?x2x72xf32>, tensor<?x2xf32>, tensor<2x96x72xf32>)
      -> (tensor<?x2x72xf32>, tensor<2x96x72xf32>)
  %y0 = seq.reshape %y : tensor<?x2x72xf32> -> tensor<?x144xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x144xf32>, tensor<?xi32>) -> tensor<?x144xf32>
  return %out, %next : tensor<?x144xf32>, tensor<2x96x72xf32>
}
}
