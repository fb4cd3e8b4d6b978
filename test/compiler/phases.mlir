// RUN: effc-opt %s --effc-phase-seq 2>/dev/null | FileCheck %s --check-prefix=SEQ
// RUN: effc-opt %s --effc-phase-seq --effc-phase-tile 2>/dev/null | FileCheck %s --check-prefix=TILE
// RUN: effc-opt %s --effc-phase-seq --effc-phase-tile --effc-phase-plan 2>/dev/null | FileCheck %s --check-prefix=PLAN
// RUN: effc-opt %s --effc-phase-seq --effc-phase-tile --effc-phase-plan --effc-phase-binary 2>/dev/null | FileCheck %s --check-prefix=BINARY
// RUN: not effc-opt %s --effc-phase-seq=rows=3 2>&1 | FileCheck %s --check-prefix=OPTION

// The phases of the compiler, one after another, on a model of one recurrence with
// 2 heads, K, V = 3, 5; a row of the table holds x (10), dt (2), b and c (3 each).
// Entries are those of the compiler's defaults.

// OPTION: a phase takes no options

// SEQ: module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 128,
// SEQ: func.func @prefill_16({{.*}}seq.entry = #seq.entry<kind = prefill, rows = 16>
// SEQ: seq.kernel "ssd"
// SEQ: form = #seq.form<kind = step>
// SEQ: func.func @prefill_64(
// SEQ: func.func @prefill_256(
// SEQ: func.func @decode_1(
// SEQ: func.func @decode_2(
// SEQ: func.func @decode_4(

// TILE-NOT: func.func
// TILE: plan.entry @prefill_16 kind prefill rows 16 chunk 1 {
// TILE: %[[X:.*]] = plan.arena bytes 2048{{$}}
// TILE: plan.launch @embedding_0(%{{.*}}, %{{.*}}, %[[X]])
// TILE: tile.kernel @ssd_1(
// TILE: plan.entry @decode_4

// 18 f32 of a row are padded to 32, 128 bytes: 16 rows are 2048 bytes.
// PLAN: plan.entry @prefill_16 kind prefill rows 16 chunk 1 arena 3072 {
// PLAN: plan.arena bytes 2048 offset 0
// PLAN: plan.arena bytes 1024 offset 2048

// BINARY-NOT: tile.kernel
// BINARY: seq.weight @table
// BINARY: plan.entry @decode_4 kind decode rows 4 chunk 1 arena 768
// BINARY: plan.binary @host isa "x86-64-v3" kernels ["embedding_0", "ssd_1", "select_rows_2"
module attributes {tile.target = #tile.target<host, vector = 8, registers = 16,
                                              step_rate = 16, dot_rate = 20, state_bytes = 32768>} {
seq.weight @table source("table") : tensor<11x18xf32>
seq.weight @h source("h") : tensor<2xf32>
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x3x5xf32> {seq.state_name = "ssd"})
    -> (tensor<?x10xf32>, tensor<2x3x5xf32>) {
  %table = seq.parameter @table : tensor<11x18xf32>
  %h = seq.parameter @h : tensor<2xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x18xf32>) -> tensor<?x18xf32>
  %x0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 10 : i64} : tensor<?x18xf32> -> tensor<?x10xf32>
  %dt = seq.slice %in {axis = 1 : i64, offset = 10 : i64, size = 2 : i64} : tensor<?x18xf32> -> tensor<?x2xf32>
  %b0 = seq.slice %in {axis = 1 : i64, offset = 12 : i64, size = 3 : i64} : tensor<?x18xf32> -> tensor<?x3xf32>
  %c0 = seq.slice %in {axis = 1 : i64, offset = 15 : i64, size = 3 : i64} : tensor<?x18xf32> -> tensor<?x3xf32>
  %x = seq.reshape %x0 : tensor<?x10xf32> -> tensor<?x2x5xf32>
  %b = seq.reshape %b0 : tensor<?x3xf32> -> tensor<?x1x3xf32>
  %c = seq.reshape %c0 : tensor<?x3xf32> -> tensor<?x1x3xf32>
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%h, %h, %h) state(%s)
      : (tensor<?x2x5xf32>, tensor<?x2xf32>, tensor<?x1x3xf32>, tensor<?x1x3xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x3x5xf32>
  %y0 = seq.reshape %y : tensor<?x2x5xf32> -> tensor<?x10xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x10xf32>, tensor<?xi32>) -> tensor<?x10xf32>
  return %out, %next : tensor<?x10xf32>, tensor<2x3x5xf32>
}
}
