// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-form-kernels --convert-seq-to-tile > %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile \
// RUN:   | FileCheck %s --check-prefix=STABLE
// RUN: sed 's/bit_stable = true, //; s/cores = 132/cores = 48/' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile -o %t.few.mlir
// RUN: FileCheck %s --check-prefix=WARPS --input-file %t.few.mlir
// RUN: sed 's/bit_stable = true, //; s/cores = 132/cores = 49/' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile -o %t.more.mlir
// RUN: FileCheck %s --check-prefix=BLOCKS --input-file %t.more.mlir

// On a GPU an item is a tile of rows and outputs, whose operands are fetched in
// steps. 24 tiles of 132 cores share their terms among four items each, whose sums meet in a
// launch behind (depth-parts.mlir). A single row is no matrix: 4 outputs of runs of 768, added up by every
// thread for itself and then by all of them. 1,535 = 2 x 768 - 1 outputs leave one
// short item; where bits are to be stable the row is computed as among others, with
// 16 outputs of an item and longer steps, since 132 cores have 96 items. Two
// rows are taken one by one: of each an item has 4096 / 2 elements for its sums, which
// are 2 outputs of runs of 768. Where their 768 items are 16 of a core, four of a
// scheduler, each is a warp's: 1,024 / (2 x 2) elements, runs of 256. A single row's items
// stay blocks.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 132, bandwidth = 1678, rereads = 1600>} {
seq.weight @table source("table") : tensor<11x1536xf32>
seq.weight @w source("w") : tensor<1535x1536xbf16>
seq.weight @bias source("bias") : tensor<1535xf32>

// CHECK-LABEL: tile.kernel @linear_1(
// CHECK-SAME: items(#tile.items<rows, tile = 64, times = 96>)
// CHECK: tile.pipeline stages 3 extent 384 step 64
// CHECK: tile.dot {{.*}} transpose_b : <64x64xf32, accumulator>, <64x64xf32, operand>, <64x64xf32, operand>
func.func @prefill_64(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x1535xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 64>} {
  %table = seq.parameter @table : tensor<11x1536xf32>
  %w = seq.parameter @w : tensor<1535x1536xbf16>
  %bias = seq.parameter @bias : tensor<1535xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x1536xf32>) -> tensor<?x1536xf32>
  %y = seq.linear %x, %w bias(%bias) : (tensor<?x1536xf32>, tensor<1535x1536xbf16>, tensor<1535xf32>) -> tensor<?x1535xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x1535xf32>, tensor<?xi32>) -> tensor<?x1535xf32>
  return %out : tensor<?x1535xf32>
}

// CHECK-LABEL: plan.entry @decode_1
// CHECK-LABEL: tile.kernel @linear_{{[0-9]+}}(
// CHECK-SAME: %[[X:[^:,]+]]: !tile.view<?x1536xf32, [1536, 1]>, %[[W:[^:,]+]]:
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 384>)
// CHECK: %[[COUNT:.*]] = arith.minsi
// CHECK: %[[SUMS:.*]] = scf.for %[[AT:.*]] = %c0{{[_0-9]*}} to %c1536{{[_0-9]*}} step %c768{{[_0-9]*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[A:.*]] = tile.load %[[W]][%{{.*}}, %[[AT]]] rows(%[[COUNT]]) sizes [4, 768]
// CHECK: %[[B:.*]] = tile.load %[[X]][%{{.*}}, %[[AT]]] sizes [1, 768]
// CHECK: tile.map(%[[ACC]], %[[A]], %[[B]])
// CHECK: math.fma
// CHECK: %[[Y:.*]] = tile.reduce add %[[SUMS]] over columns : {{.*}} -> !tile.tile<4xf32, column>
// CHECK: tile.load {{.*}} rows(%[[COUNT]]) sizes [4] : {{.*}} -> <4xf32, column>
// CHECK: tile.store {{.*}} rows(%[[COUNT]]) sizes [1, 4]
// STABLE-LABEL: plan.entry @decode_1
// STABLE: plan.launch @[[ROWS:linear_[0-9]+]](
// STABLE-LABEL: tile.kernel @linear_{{[0-9]+}}(
// STABLE: tile.pipeline stages 3 extent 1536 step 128
// STABLE: tile.dot {{.*}} : <16x16xf32, accumulator>
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x1535xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x1536xf32>
  %w = seq.parameter @w : tensor<1535x1536xbf16>
  %bias = seq.parameter @bias : tensor<1535xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x1536xf32>) -> tensor<?x1536xf32>
  %y = seq.linear %x, %w bias(%bias) : (tensor<?x1536xf32>, tensor<1535x1536xbf16>, tensor<1535xf32>) -> tensor<?x1535xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x1535xf32>, tensor<?xi32>) -> tensor<?x1535xf32>
  return %out : tensor<?x1535xf32>
}

// CHECK-LABEL: plan.entry @decode_2
// CHECK-LABEL: tile.kernel @linear_{{[0-9]+}}(
// CHECK-SAME: %[[X:[^:,]+]]: !tile.view<?x1536xf32, [1536, 1]>, %[[W:[^:,]+]]:
// CHECK-SAME: items(#tile.items<rows, tile = 2, times = 768>)
// A row that the call does not have is its last one again, and is not stored.
// CHECK: %[[COUNT:.*]] = tile.count rows
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: %[[SECOND:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} step %c768
// CHECK: %[[A:.*]] = tile.load %[[W]]{{.*}} sizes [2, 768]
// CHECK: tile.load %[[X]]{{.*}} sizes [1, 768]
// CHECK: tile.load %[[X]][%[[SECOND]], {{.*}} sizes [1, 768]
// CHECK: tile.reduce add %[[SUMS]]#0 over columns
// CHECK: tile.reduce add %[[SUMS]]#1 over columns
// CHECK-COUNT-2: tile.store {{.*}} sizes [1, 2]
// WARPS-LABEL: plan.entry @decode_1
// WARPS: step %c768
// WARPS-LABEL: plan.entry @decode_2
// WARPS-LABEL: tile.kernel @linear_{{[0-9]+}}(
// WARPS-SAME: items(#tile.items<rows, tile = 2, times = 768>)
// WARPS: scf.for {{.*}} step %c256
// WARPS: sizes [2, 256]
// BLOCKS-LABEL: plan.entry @decode_2
// BLOCKS: sizes [2, 768]
// STABLE-LABEL: plan.entry @decode_2
// STABLE: plan.launch @[[ROWS]](
func.func @decode_2(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x1535xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %table = seq.parameter @table : tensor<11x1536xf32>
  %w = seq.parameter @w : tensor<1535x1536xbf16>
  %bias = seq.parameter @bias : tensor<1535xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x1536xf32>) -> tensor<?x1536xf32>
  %y = seq.linear %x, %w bias(%bias) : (tensor<?x1536xf32>, tensor<1535x1536xbf16>, tensor<1535xf32>) -> tensor<?x1535xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x1535xf32>, tensor<?xi32>) -> tensor<?x1535xf32>
  return %out : tensor<?x1535xf32>
}
}
