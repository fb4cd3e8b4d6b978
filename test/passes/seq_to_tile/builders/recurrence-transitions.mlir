// RUN: effc-opt %s --split-input-file --seq-form-kernels --convert-seq-to-tile --verify-diagnostics=only-expected | FileCheck %s

// What a piece of a delta rule does to the state before it is a matrix of 96 x
// 96, which the first kernel makes as 4 blocks of 24 columns behind the 3 of 72
// value channels. Of 27 chunks 2 heads have 9 pieces: 2 x 9 x 7 items, then 2 x
// 9 x 3; 9 x 2 x 96 x (72 + 96) f32 are kept between them.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 55296, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<2x96x72xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 600, cores = 132, bandwidth = 1678, rereads = 1600>} {
seq.weight @table source("table") : tensor<41x338xf32>

// CHECK-LABEL: plan.entry @prefill_432
// CHECK: %[[PLACES:.*]] = plan.arena bytes 1161216
// CHECK: plan.launch @delta_rule_1({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 126>
// CHECK: plan.launch @delta_rule_1_pieces({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 54>

// CHECK-LABEL: tile.kernel @delta_rule_1(
// CHECK: %[[COLUMN:.*]] = arith.muli %{{[^,]*}}, %c24{{.*}} : index
// CHECK: %[[OF_MATRIX:.*]] = arith.cmpi sge, %[[COLUMN]], %c72{{.*}} : index
// CHECK: %[[VALUE:.*]] = arith.select %[[OF_MATRIX]], %c0{{.*}}, %[[COLUMN]]
// From the unit vectors of these columns, or from nothing.
// CHECK: arith.subi %[[COLUMN]], %c72
// CHECK: tile.map
// CHECK: tile.column_index
// CHECK: arith.addi
// CHECK: arith.cmpi eq
// No decays leave the loop.
// CHECK: scf.for {{.*}} -> (!tile.tile<96x24xf32, accumulator>) {
// CHECK: arith.select %[[OF_MATRIX]], %c0{{.*}}, %{{.*}} : index
// CHECK: tile.store {{.*}}, %[[COLUMN]]] sizes [1, 1, 96, 24] : {{.*}}9x2x96x168xf32
// CHECK-NOT: tile.store

// CHECK-LABEL: tile.kernel @delta_rule_1_pieces(
// The first piece goes on from the sequence: it has no matrix.
// CHECK: scf.for
// CHECK: tile.load {{.*}} sizes [1, 1, 96, 24] : {{.*}}9x2x96x168xf32
// CHECK-NEXT: scf.yield
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (!tile.tile<96x24xf32, accumulator>)
// CHECK: %[[MATRIX:.*]] = tile.load {{.*}} %c72{{.*}}] sizes [1, 1, 96, 96] : {{.*}}9x2x96x168xf32
// CHECK: %[[OWN:.*]] = tile.load {{.*}} sizes [1, 1, 96, 24] : {{.*}}9x2x96x168xf32
// CHECK: tile.dot %[[OWN]], %[[MATRIX]], %[[SUM]]
// CHECK-NEXT: scf.yield
func.func @prefill_432(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x96x72xf32> {seq.state_name = "s"})
    -> (tensor<?x144xf32>, tensor<2x96x72xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 432>} {
  %table = seq.parameter @table : tensor<41x338xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<41x338xf32>) -> tensor<?x338xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 96 : i64} : tensor<?x338xf32> -> tensor<?x96xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 96 : i64, size = 96 : i64} : tensor<?x338xf32> -> tensor<?x96xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 192 : i64, size = 144 : i64} : tensor<?x338xf32> -> tensor<?x144xf32>
  %beta = seq.slice %in {axis = 1 : i64, offset = 336 : i64, size = 2 : i64} : tensor<?x338xf32> -> tensor<?x2xf32>
  %q = seq.reshape %q0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %k = seq.reshape %k0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %v = seq.reshape %v0 : tensor<?x144xf32> -> tensor<?x2x72xf32>
  // expected-remark @+1 {{a call's only sequence in 9 pieces: 6 items of 27 chunks leave most of 132 cores idle}}
  %y, %next = seq.delta_rule %q, %k, %v, %beta state(%s) {scale = 0.125 : f64, form = #seq.form<kind = chunkwise, chunk = 16>}
      : (tensor<?x1x96xf32>, tensor<?x1x96xf32>, tensor<?x2x72xf32>, tensor<?x2xf32>, tensor<2x96x72xf32>)
      -> (tensor<?x2x72xf32>, tensor<2x96x72xf32>)
  %y0 = seq.reshape %y : tensor<?x2x72xf32> -> tensor<?x144xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x144xf32>, tensor<?xi32>) -> tensor<?x144xf32>
  return %out, %next : tensor<?x144xf32>, tensor<2x96x72xf32>
}
}

// -----

// A matrix of 192 x 192 does not fit a block's shared memory beside a state: two
// pieces, between which there is none. 2 heads of 40 value channels are 2 items;
// 2 x 2 x 192 x 40 f32 are kept.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 61440, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<2x192x40xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 600, cores = 132, bandwidth = 1678, rereads = 1600>} {
seq.weight @table source("table") : tensor<41x466xf32>

// CHECK-LABEL: plan.entry @prefill_432
// CHECK: %[[PLACES:.*]] = plan.arena bytes 122880
// CHECK: plan.launch @delta_rule_1({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 4>
// CHECK: plan.launch @delta_rule_1_pieces({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 4>

// CHECK-LABEL: tile.kernel @delta_rule_1_pieces(
// CHECK-NOT: sizes [1, 1, 192, 192]
func.func @prefill_432(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x192x40xf32> {seq.state_name = "s"})
    -> (tensor<?x80xf32>, tensor<2x192x40xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 432>} {
  %table = seq.parameter @table : tensor<41x466xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<41x466xf32>) -> tensor<?x466xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 192 : i64} : tensor<?x466xf32> -> tensor<?x192xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 192 : i64, size = 192 : i64} : tensor<?x466xf32> -> tensor<?x192xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 384 : i64, size = 80 : i64} : tensor<?x466xf32> -> tensor<?x80xf32>
  %beta = seq.slice %in {axis = 1 : i64, offset = 464 : i64, size = 2 : i64} : tensor<?x466xf32> -> tensor<?x2xf32>
  %q = seq.reshape %q0 : tensor<?x192xf32> -> tensor<?x1x192xf32>
  %k = seq.reshape %k0 : tensor<?x192xf32> -> tensor<?x1x192xf32>
  %v = seq.reshape %v0 : tensor<?x80xf32> -> tensor<?x2x40xf32>
  // expected-remark @+1 {{a call's only sequence in 2 pieces: 2 items of 27 chunks leave most of 132 cores idle}}
  %y, %next = seq.delta_rule %q, %k, %v, %beta state(%s) {scale = 0.125 : f64, form = #seq.form<kind = chunkwise, chunk = 16>}
      : (tensor<?x1x192xf32>, tensor<?x1x192xf32>, tensor<?x2x40xf32>, tensor<?x2xf32>, tensor<2x192x40xf32>)
      -> (tensor<?x2x40xf32>, tensor<2x192x40xf32>)
  %y0 = seq.reshape %y : tensor<?x2x40xf32> -> tensor<?x80xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x80xf32>, tensor<?xi32>) -> tensor<?x80xf32>
  return %out, %next : tensor<?x80xf32>, tensor<2x192x40xf32>
}
}
