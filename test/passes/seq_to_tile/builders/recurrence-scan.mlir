// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile --verify-diagnostics=only-expected | FileCheck %s
// RUN: sed 's/bit_stable = false/bit_stable = true/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile 2>/dev/null | FileCheck %s --check-prefix=STABLE

// A scan of 2 heads of 12 value channels, one of keys: an item has all of a head. 64
// tokens for 132 cores are eight pieces of 8 tokens.
// A place has, for each head, the state and the decay: two rows of 12, padded to 16. A
// kernel that keeps bits stable has no pieces, for they depend on how many segments a call has.

module attributes {tile.target = #tile.target<nvptx, bit_stable = false, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60,
                                              dot_rate = 300, cores = 132, bandwidth = 1678, rereads = 1600>,
  seq.state_layout = #seq.state_layout<slot_bytes = 128, states = [
    <name = "s", kind = matrix, growth = fixed, type = tensor<2x1x12xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<11x48xf32>
seq.weight @low source("low") : tensor<2x12xf32>

// CHECK-LABEL: plan.entry @prefill_64
// CHECK: %[[PLACES:.*]] = plan.arena bytes 2048
// CHECK: plan.launch @hgrn_1({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 16> note "hgrn" flops 120
// CHECK: plan.launch @hgrn_1_pieces({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 16> note "hgrn"

// Eight tokens at once, whose numbers are all on their way; then those left.
// CHECK-LABEL: tile.kernel @hgrn_1(
// CHECK: %[[SEGMENTS:.*]] = tile.count segments
// CHECK: %[[SHARE:.*]] = arith.divui %c8{{.*}}, %[[SEGMENTS]]
// CHECK: %[[NOTHING:.*]] = tile.splat {{.*}} : <1x12xf32, accumulator>
// CHECK: %[[UNIT:.*]] = tile.splat {{.*}} : <12xf32, row>
// The first piece starts from what the sequence has, and the last one's place keeps that.
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[NOTHING]], %{{.*}} = %[[UNIT]])
// CHECK: tile.load {{.*}} : <?x2x1x12xf32
// CHECK: %[[MADE:.*]]:2 = scf.for {{.*}} step %c8{{.*}} -> (!tile.tile<1x12xf32, accumulator>, !tile.tile<12xf32, row>)
// CHECK-NOT: tile.store
// CHECK: %[[LEFT:.*]]:2 = scf.for {{.*}} step %c1{{.*}} iter_args(%[[S:[^ ]+]] = %[[MADE]]#0, %[[P:[^ ]+]] = %[[MADE]]#1)
// CHECK: %[[NEXT:.*]] = tile.map(%[[P]], %{{.*}}) : (!tile.tile<12xf32, row>, !tile.tile<12xf32, row>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf
// CHECK: scf.for
// CHECK: tile.store %[[LEFT]]#0, {{.*}} sizes [1, 1, 1, 12]
// CHECK: tile.store %[[LEFT]]#1, {{.*}} sizes [1, 1, 1, 12]

// CHECK-LABEL: tile.kernel @hgrn_1_pieces(
// What was before a piece is what those before it made, decayed.
// CHECK: scf.for {{.*}} iter_args(%[[BEFORE:[^ ]+]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (!tile.tile<1x12xf32, accumulator>, !tile.tile<12xf32, row>)
// CHECK: %[[OWN:.*]] = tile.load {{.*}} : <8x2x2x16xf32{{.*}} -> <1x12xf32, accumulator>
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[^ ]+]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[ADDED:.*]] = tile.load {{.*}} -> <1x12xf32, accumulator>
// CHECK: %[[DECAY:.*]] = tile.load {{.*}} -> <12xf32, row>
// CHECK: tile.map(%[[SUM]], %[[ADDED]], %[[DECAY]])
// CHECK: arith.mulf
// CHECK: arith.addf
// A segment of one piece has the slot to itself.
// CHECK: scf.for
// CHECK: tile.load {{.*}} : <?x2x1x12xf32
// CHECK: scf.for {{.*}} step %c8
// CHECK-COUNT-8: tile.store {{.*}} sizes [1, 1, 12]
// CHECK: scf.for {{.*}} step %c1
// CHECK: scf.for
// CHECK-NEXT: tile.store {{.*}} : <1x12xf32, accumulator>, <?x2x1x12xf32

// STABLE: plan.launch @hgrn_1({{.*}}) items <segments, tile = 1, times = 2>
// STABLE-NOT: _pieces
func.func @prefill_64(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x1x12xf32> {seq.state_name = "s"})
    -> (tensor<?x24xf32>, tensor<2x1x12xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 64>} {
  %table = seq.parameter @table : tensor<11x48xf32>
  %low = seq.parameter @low : tensor<2x12xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x48xf32>) -> tensor<?x48xf32>
  %x0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 24 : i64} : tensor<?x48xf32> -> tensor<?x24xf32>
  %f0 = seq.slice %in {axis = 1 : i64, offset = 24 : i64, size = 24 : i64} : tensor<?x48xf32> -> tensor<?x24xf32>
  %x = seq.reshape %x0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  %f = seq.reshape %f0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  // expected-remark @+1 {{a call's only sequence in 8 pieces: 64 tokens one after another leave most of 132 cores idle}}
  %y, %next = seq.hgrn %x, %f parameters(%low) state(%s) {form = #seq.form<kind = scan>}
      : (tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<2x12xf32>, tensor<2x1x12xf32>) -> (tensor<?x2x12xf32>, tensor<2x1x12xf32>)
  %y0 = seq.reshape %y : tensor<?x2x12xf32> -> tensor<?x24xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
  return %out, %next : tensor<?x24xf32>, tensor<2x1x12xf32>
}
}
