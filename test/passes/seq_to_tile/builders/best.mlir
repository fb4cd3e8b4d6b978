// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s
// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=STABLE

// A choice from 300 logits. A single row of 192 channels takes 16 outputs at a
// time (4096 elements of the weight in runs of 192, and a power of two), so that an
// item has four such runs, 64 outputs, and there are 5 items; each leaves its
// largest logit and the logit's number, for which a row has 2 x 16 places. The
// second launch looks at 5 of each. What only logits or only choices need is
// marked.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @w source("w") : tensor<300x192xbf16>
seq.weight @table source("table") : tensor<11x192xf32>

// CHECK-LABEL: plan.entry @decode_1
// CHECK: plan.launch @select_rows_1({{.*}} note "select_rows"{{$}}
// CHECK: plan.launch @lm_head_2({{.*}} items <outputs, tile = 1, times = 19> note "head" flops 115200 only_for logits
// CHECK: %[[CHOICES:.*]] = plan.choices
// CHECK: %[[BETWEEN:.*]] = plan.arena bytes 128
// CHECK: plan.launch @lm_head_3({{.*}}, %[[BETWEEN]]) items <outputs, tile = 1, times = 5> note "again" flops 115200 only_for choices
// CHECK: plan.launch @lm_head_3_best(%[[BETWEEN]], %[[CHOICES]]) items <outputs, tile = 1, times = 1> note "again" only_for choices

// CHECK-LABEL: tile.kernel @lm_head_3(
// CHECK-SAME: items(#tile.items<outputs, tile = 1, times = 5>) writes(2)
// CHECK: %[[FOUND:.*]]:2 = scf.for %[[FIRST:.*]] = %{{.*}} to %{{.*}} step %c16{{.*}} iter_args(%[[VALUES:.*]] = %{{.*}}, %[[NUMBERS:.*]] = %{{.*}}) -> (!tile.tile<16xf32, column>, !tile.tile<16xf32, column>)
// The sums of 16 outputs, as when they are stored.
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} step %c192
// CHECK: %[[Y:.*]] = tile.reduce add %[[SUMS]] over columns : {{.*}} -> !tile.tile<16xf32, column>
// CHECK: %[[L:.*]] = tile.map(%[[Y]])
// CHECK: math.tanh
// Those past the end do not count.
// CHECK: %[[INSIDE:.*]] = tile.map(%[[L]])
// CHECK: tile.row_index
// The later of two equal ones does not count either.
// CHECK: tile.map(%[[VALUES]], %[[INSIDE]])
// CHECK: arith.cmpf ogt
// CHECK: tile.map(%[[VALUES]], %[[INSIDE]], %[[NUMBERS]])
// CHECK: arith.addi %[[FIRST]]
// CHECK: scf.yield
// CHECK: %[[LARGEST:.*]] = tile.reduce max %[[FOUND]]#0 over columns
// CHECK: tile.map(%[[FOUND]]#0, %[[LARGEST]], %[[FOUND]]#1)
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf uno
// CHECK: tile.reduce max
// CHECK: tile.store {{.*}} sizes [1, 1, 1] : {{.*}}, <?x2x16xf32, [32, 16, 1]>
// CHECK: tile.store {{.*}} sizes [1, 1, 1]

// CHECK-LABEL: tile.kernel @lm_head_3_best(
// CHECK-SAME: items(#tile.items<outputs, tile = 1, times = 1>) writes(1)
// CHECK: tile.load {{.*}} sizes [1, 1, 5] : <?x2x16xf32, [32, 16, 1]> -> <5xf32, row>
// CHECK: tile.load {{.*}} sizes [1, 1, 5]
// CHECK: tile.store {{.*}} sizes [1, 2] : <2xf32, row>, <?x2xf32, [2, 1]>

// Where bits are to be stable a row is computed as among others: 16 outputs of
// 16 rows are an item, since there are cores for as many.
// STABLE-LABEL: plan.entry @decode_1
// STABLE: plan.launch @lm_head_3({{.*}} items <outputs, tile = 16, times = 19> note "again"
// STABLE-LABEL: tile.kernel @lm_head_3(
// STABLE: tile.dot
// STABLE: tile.reduce max {{.*}} over columns : <16x16xf32, accumulator> -> !tile.tile<16xf32, column>
// STABLE: tile.store {{.*}} rows({{.*}}) sizes [16, 1, 1] : <16xf32, column>
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> (tensor<?x300xf32>, tensor<?x2xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %w = seq.parameter @w : tensor<300x192xbf16>
  %table = seq.parameter @table : tensor<11x192xf32>
  %e = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x192xf32>) -> tensor<?x192xf32>
  %x = seq.select_rows %e, %rows : (tensor<?x192xf32>, tensor<?xi32>) -> tensor<?x192xf32>
  %y = seq.lm_head %x, %w : (tensor<?x192xf32>, tensor<300x192xbf16>) -> tensor<?x300xf32> loc("head")
  %z = seq.lm_head %x, %w : (tensor<?x192xf32>, tensor<300x192xbf16>) -> tensor<?x300xf32> loc("again")
  %t = seq.tanh %z : tensor<?x300xf32>
  %c = seq.best %t : tensor<?x300xf32> -> tensor<?x2xf32>
  return %y, %c : tensor<?x300xf32>, tensor<?x2xf32>
}
}
