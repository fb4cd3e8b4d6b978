// RUN: effc-opt %s --seq-form-kernels=convolution-prologues=true --convert-seq-to-tile 2>/dev/null | FileCheck %s
// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-form-kernels=convolution-prologues=true --convert-seq-to-tile 2>/dev/null | FileCheck %s --check-prefix=PIECES

// Values, 2 heads of 72 in 3 blocks of 24, are convolved with 4 taps as they are
// loaded; keys and queries, channels 144 to 335, by a kernel before.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 59328, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<2x96x72xf32>, neutral = 0.0 : f32, offset = 0>,
      <name = "t", kind = tail, growth = fixed, type = tensor<3x336xf32>, neutral = 0.0 : f32, offset = 55296>]>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 600, cores = 132, bandwidth = 1678, rereads = 1600>} {
seq.weight @table source("table") : tensor<41x338xf32>

// The kernel before has 192 channels, from byte 576 on: taps, bias and tail of 4
// bytes each.
// CHECK-LABEL: plan.entry @prefill_176
// CHECK: %[[STATE:.*]] = plan.state "t"
// CHECK: %[[TAPS:.*]] = plan.weight @taps
// CHECK: %[[ROWS:.*]] = plan.arena bytes 247808
// CHECK: plan.offset %[[TAPS]] by 576
// CHECK: %[[TAIL:.*]] = plan.offset %[[STATE]] by 576
// CHECK: plan.launch @short_convolution_1({{.*}}%[[TAIL]]{{.*}}) items <segments, tile = 1, times = 18>
// CHECK: plan.launch @ssd_2({{.*}}%[[TAPS]], {{.*}}%[[STATE]], %[[ROWS]]{{.*}}) items <segments, tile = 1, times = 6>

// A GPU takes 64 rows at a time, by turns of the three items that share the 176
// rows of the call: one for each tile of them.
// CHECK-LABEL: tile.kernel @short_convolution_1(
// CHECK-SAME: !tile.view<?x3x192xf32, [14832, 336, 1]>
// CHECK: %[[PART:.*]] = arith.remui %{{.*}}, %c3
// CHECK: %[[BEGIN:.*]] = arith.muli %[[PART]], %c64
// CHECK: scf.for {{.*}} = %[[BEGIN]] to {{.*}} step %c192
// CHECK-COUNT-4: tile.load {{.*}} sizes [64, 32]
// CHECK: tile.store {{.*}} sizes [64, 32]
// The first of them leaves the tail.
// CHECK: arith.cmpi eq, %[[PART]], %c0
// CHECK: tile.store {{.*}} sizes [1, 3, 32]

// An item's channels begin at 72 head + 24 block.
// CHECK-LABEL: tile.kernel @ssd_2(
// CHECK-SAME: %[[W:[^:,]+]]: !tile.view<4x144xf32, [336, 1]>, %{{[^:,]+}}: !tile.view<144xf32, [1]>, %[[PAST:[^:,]+]]: !tile.view<?x3x144xf32, [14832, 336, 1]>, %[[X:[^:,]+]]: !tile.view<?x144xf32, [352, 1]>
// CHECK: %[[SLOT:.*]], %[[FIRST:.*]], %[[LENGTH:.*]], %{{.*}}, %[[BEGINS:.*]] = tile.segment
// CHECK: %[[HEAD:.*]] = arith.muli %{{.*}}, %c72
// CHECK: %[[CHANNEL:.*]] = arith.addi %[[HEAD]], %{{.*}}
// CHECK: scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) -> (!tile.tile<96x24xf32, accumulator>)
// The chunk's rows, and the same 3 to 1 rows further up.
// CHECK: %[[TOKEN:.*]] = arith.subi %[[ROW:.*]], %[[FIRST]]
// CHECK: tile.load %[[W]][%c0{{.*}}, %[[CHANNEL]]] sizes [1, 24]
// CHECK: arith.maxsi
// CHECK: %[[ABOVE:.*]] = arith.addi %[[FIRST]], %{{.*}}
// CHECK: %[[OLDEST:.*]] = tile.load %[[X]][%[[ABOVE]], %[[CHANNEL]]] rows(%[[COUNT:.*]]) sizes [16, 24]
// CHECK-COUNT-2: tile.load %[[X]]
// CHECK: %[[SUM:.*]] = tile.map(%{{.*}}, %{{.*}}, %{{.*}}, %[[OLDEST]],
// CHECK-COUNT-3: math.fma
// Where a segment has begun fewer rows ago some are the tail's, 0 of a sequence
// that begins, and the sum is made again.
// CHECK: %[[EARLY:.*]] = arith.cmpi slt, %[[TOKEN]], %c3
// CHECK: %[[ONCE:.*]] = arith.select %[[EARLY]], %c1{{.*}}, %c0
// CHECK: %[[WITH_TAIL:.*]] = scf.for {{.*}} to %[[ONCE]] {{.*}} iter_args(%{{.*}} = %[[SUM]])
// CHECK: scf.for %[[TAP:.*]] = %c0{{.*}} to %c3
// CHECK: %[[FROM:.*]] = arith.addi %[[TOKEN]], %[[TAP]]
// CHECK: %[[OF_TAIL:.*]] = arith.maxsi
// CHECK: %[[SPLICED:.*]] = tile.splice %[[PAST]][%[[SLOT]], %{{.*}}, %[[CHANNEL]]] sizes [1, 16, 24], %[[X]][%{{.*}}, %[[CHANNEL]]] sizes [16, 24] rows(%[[OF_TAIL]], %[[COUNT]])
// CHECK: %[[CLEARED:.*]] = arith.select %[[BEGINS]], %[[OF_TAIL]], %c0
// CHECK: %[[INPUT:.*]] = tile.map(%[[SPLICED]])
// CHECK: arith.cmpi slt, %{{.*}}, %[[CLEARED]]
// CHECK: %[[TAPS:.*]] = tile.load %[[W]][%[[TAP]], %[[CHANNEL]]] sizes [1, 24]
// CHECK: tile.map(%[[TAPS]], %[[INPUT]],
// Its own rows come last, when others have brought most of them to the cache.
// CHECK: %[[LAST:.*]] = tile.load %[[W]][%c3{{.*}}, %[[CHANNEL]]] sizes [1, 24]
// CHECK: %[[NEW:.*]] = tile.load %[[X]][%[[ROW]], %[[CHANNEL]]] rows(%[[COUNT]]) sizes [16, 24]
// CHECK: tile.map(%[[LAST]], %[[NEW]], %[[WITH_TAIL]])
// CHECK: math.fma
// CHECK: math.exp
// Behind the state goes what the segment leaves.
// CHECK: tile.store {{.*}} sizes [1, 1, 96, 24]
// CHECK: tile.load %[[X]]{{.*}} sizes [3, 24]
// CHECK: %[[BEHIND:.*]] = scf.for
// CHECK: tile.splice {{.*}} sizes [1, 3, 24]
// CHECK: tile.store %[[BEHIND]], %[[PAST]][%[[SLOT]], %{{.*}}, %[[CHANNEL]]] sizes [1, 3, 24]

// Of pieces, which run beside one another, the first launch reads the tail, and the
// last piece's place has a copy of it, behind the 96 rows of a state, for the
// second: one of its items leaves the next tail while others begin. A segment in
// one piece reads the slot.
// PIECES-LABEL: tile.kernel @ssd_2(
// PIECES-SAME: %[[PAST:[^:,]+]]: !tile.view<?x3x144xf32, [14832, 336, 1]>
// PIECES-SAME: writes(1, 7)
// PIECES: tile.splice %[[PAST]]
// PIECES: tile.store {{.*}} sizes [1, 1, 96, 24] : {{.*}}, <11x2x99x80xf32
// PIECES: tile.load %[[PAST]]{{.*}} sizes [1, 3, 24]
// PIECES: tile.store {{.*}}, %c96, %{{.*}}] sizes [1, 1, 3, 24] : {{.*}}, <11x2x99x80xf32
// PIECES-LABEL: tile.kernel @ssd_2_pieces(
// PIECES-SAME: %[[PAST:[^:,]+]]: !tile.view<?x3x144xf32, [14832, 336, 1]>, %{{[^:,]+}}: !tile.view<?x144xf32, [352, 1]>, %[[PLACES:[^:,]+]]: !tile.view<11x2x99x80xf32
// PIECES: %[[OWN:.*]] = arith.xori %[[KEPT:.*]], %true
// PIECES: arith.andi %{{.*}}, %[[OWN]]
// PIECES: tile.splice %[[PAST]]
// PIECES: arith.andi %{{.*}}, %[[KEPT]]
// PIECES: tile.splice %[[PLACES]]
// PIECES: tile.store {{.*}}, %[[PAST]][{{.*}}] sizes [1, 3, 24]
seq.weight @taps source("taps") : tensor<4x336xf32>
seq.weight @bias source("bias") : tensor<336xf32>
seq.weight @rate source("rate") : tensor<2xf32>

func.func @prefill_176(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x96x72xf32> {seq.state_name = "s"},
    %t: tensor<3x336xf32> {seq.state_name = "t"})
    -> (tensor<?x144xf32>, tensor<2x96x72xf32>, tensor<3x336xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 176>} {
  %table = seq.parameter @table : tensor<41x338xf32>
  %taps = seq.parameter @taps : tensor<4x336xf32>
  %bias = seq.parameter @bias : tensor<336xf32>
  %rate = seq.parameter @rate : tensor<2xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<41x338xf32>) -> tensor<?x338xf32>
  %u = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 336 : i64} : tensor<?x338xf32> -> tensor<?x336xf32>
  %c, %next_t = seq.short_convolution %u parameters(%taps, %bias) state(%t) {activation = #seq.activation<silu>}
      : tensor<?x336xf32>, (tensor<4x336xf32>, tensor<336xf32>), tensor<3x336xf32>
  %dt = seq.slice %in {axis = 1 : i64, offset = 336 : i64, size = 2 : i64} : tensor<?x338xf32> -> tensor<?x2xf32>
  %x0 = seq.slice %c {axis = 1 : i64, offset = 0 : i64, size = 144 : i64} : tensor<?x336xf32> -> tensor<?x144xf32>
  %b0 = seq.slice %c {axis = 1 : i64, offset = 144 : i64, size = 96 : i64} : tensor<?x336xf32> -> tensor<?x96xf32>
  %c0 = seq.slice %c {axis = 1 : i64, offset = 240 : i64, size = 96 : i64} : tensor<?x336xf32> -> tensor<?x96xf32>
  %x = seq.reshape %x0 : tensor<?x144xf32> -> tensor<?x2x72xf32>
  %b = seq.reshape %b0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %q = seq.reshape %c0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %y, %next = seq.ssd %x, %dt, %b, %q parameters(%rate, %rate, %rate) state(%s) {form = #seq.form<kind = chunkwise, chunk = 16>}
      : (tensor<?x2x72xf32>, tensor<?x2xf32>, tensor<?x1x96xf32>, tensor<?x1x96xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x96x72xf32>
  %y0 = seq.reshape %y : tensor<?x2x72xf32> -> tensor<?x144xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x144xf32>, tensor<?xi32>) -> tensor<?x144xf32>
  return %out, %next, %next_t : tensor<?x144xf32>, tensor<2x96x72xf32>, tensor<3x336xf32>
}
}
