// RUN: effc-opt %s --seq-form-kernels --seq-pack-weights > %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file %t.mlir
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=FALLBACK --implicit-check-not=fallback
// RUN: effc-opt %t.mlir --seq-pack-weights 2> /dev/null | FileCheck %s
// RUN: sed 's/ digits = 3,//' %s | effc-opt --seq-form-kernels --seq-pack-weights 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROWS

// Without digits every weight stays in rows.
// ROWS-NOT: panels

!q8_0 = !storage.block<"q8_0", elements = 32, bytes = 34, digits = [32],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
!odd = !storage.block<"odd", elements = 16, bytes = 18, digits = [16],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
module attributes {
    tile.target = #tile.target<host, bit_stable = true, digits = 3, vector = 8, registers = 16,
                               step_rate = 22, dot_rate = 18, state_bytes = 32768>} {

// A head that is tied to the table of embeddings, and products, have panels.
// CHECK: seq.weight @table source("table") panels : tensor<19x64x!q8_0>
// CHECK: seq.weight @up source("up") panels : tensor<96x64x!q8_0>
// CHECK: seq.weight @down source("down") panels : tensor<64x96x!q8_0>
// CHECK: seq.weight @part source("part") panels : tensor<40x64x!q8_0>
// CHECK: seq.weight @odd source("odd") : tensor<24x64x!odd>
// CHECK: seq.weight @wide source("wide") : tensor<64x96xbf16>
// CHECK: seq.weight @positions source("positions") : tensor<5x64x!q8_0>
// REMARK-DAG: weight 'table' lies in panels: products multiply its codes as integers
// REMARK-DAG: weight 'odd' lies in rows: there are no panels of odd
// REMARK-DAG: weight 'positions' lies in rows: no product reads it
// Experts begin at panels where their rows are whole panels, of 32 + 32 and of 64; those
// of 24 do not.
// CHECK: seq.weight @hidden source("hidden") panels : tensor<192x64x!q8_0>
// CHECK: seq.weight @output source("output") panels : tensor<192x32x!q8_0>
// CHECK: seq.weight @small source("small") : tensor<72x64x!q8_0>
// FALLBACK: remark: fallback: a weight in blocks lies in rows and is unpacked to f32, which takes longer than products of integers: 'seq.expert_hidden' takes runs of 24 rows of it, which are no whole panels of 16
// FALLBACK-NEXT: seq.weight @small
seq.weight @table source("table") : tensor<19x64x!q8_0>
seq.weight @up source("up") : tensor<96x64x!q8_0>
seq.weight @down source("down") : tensor<64x96x!q8_0>
seq.weight @part source("part") : tensor<40x64x!q8_0>
seq.weight @odd source("odd") : tensor<24x64x!odd>
seq.weight @wide source("wide") : tensor<64x96xbf16>
seq.weight @positions source("positions") : tensor<5x64x!q8_0>
seq.weight @hidden source("hidden") : tensor<192x64x!q8_0>
seq.weight @output source("output") : tensor<192x32x!q8_0>
seq.weight @small source("small") : tensor<72x64x!q8_0>

func.func @prefill_5(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %g: tensor<64xf32>)
    -> (tensor<?x19xf32>, tensor<?x40xf32>, tensor<?x24xf32>, tensor<?x64xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 5>} {
  %table = seq.parameter @table : tensor<19x64x!q8_0>
  %up = seq.parameter @up : tensor<96x64x!q8_0>
  %down = seq.parameter @down : tensor<64x96x!q8_0>
  %part = seq.parameter @part : tensor<40x64x!q8_0>
  %odd = seq.parameter @odd : tensor<24x64x!odd>
  %wide = seq.parameter @wide : tensor<64x96xbf16>
  %positions = seq.parameter @positions : tensor<5x64x!q8_0>
  %e = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<19x64x!q8_0>) -> tensor<?x64xf32> loc("embedding")
  %p = seq.embedding %tokens, %positions : (tensor<?xi32>, tensor<5x64x!q8_0>) -> tensor<?x64xf32> loc("position")
  %x = seq.add %e, %p : tensor<?x64xf32> loc("sum")
  %n = seq.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32> loc("norm")
  %u = seq.linear %n, %up : (tensor<?x64xf32>, tensor<96x64x!q8_0>) -> tensor<?x96xf32> loc("up")
  %d = seq.linear %u, %down : (tensor<?x96xf32>, tensor<64x96x!q8_0>) -> tensor<?x64xf32> loc("down")
  %q = seq.linear %n, %part : (tensor<?x64xf32>, tensor<40x64x!q8_0>) -> tensor<?x40xf32> loc("part")
  %o = seq.linear %d, %odd : (tensor<?x64xf32>, tensor<24x64x!odd>) -> tensor<?x24xf32> loc("odd")
  %b = seq.linear %d, %up : (tensor<?x64xf32>, tensor<96x64x!q8_0>) -> tensor<?x96xf32> loc("both")
  %w = seq.linear %b, %wide : (tensor<?x96xf32>, tensor<64x96xbf16>) -> tensor<?x64xf32> loc("wide")
  %c = seq.select_rows %d, %rows : (tensor<?x64xf32>, tensor<?xi32>) -> tensor<?x64xf32> loc("select")
  %l = seq.lm_head %c, %table : (tensor<?x64xf32>, tensor<19x64x!q8_0>) -> tensor<?x19xf32> loc("head")
  return %l, %q, %o, %w : tensor<?x19xf32>, tensor<?x40xf32>, tensor<?x24xf32>, tensor<?x64xf32>
}
func.func @decode_2(%x: tensor<?x64xf32>, %choices: tensor<?x2xi32>, %weights: tensor<?x2xf32>)
    -> (tensor<?x64xf32>, tensor<?x2x24xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %hidden = seq.parameter @hidden : tensor<192x64x!q8_0>
  %output = seq.parameter @output : tensor<192x32x!q8_0>
  %small = seq.parameter @small : tensor<72x64x!q8_0>
  %h = seq.expert_hidden %x, %weights, %choices, %hidden {nonlinearity = #seq.nonlinearity<silu>, gated} : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<192x64x!q8_0>) -> tensor<?x2x32xf32> loc("hidden")
  %y = seq.expert_output %h, %choices, %output : (tensor<?x2x32xf32>, tensor<?x2xi32>, tensor<192x32x!q8_0>) -> tensor<?x64xf32> loc("output")
  %s = seq.expert_hidden %x, %weights, %choices, %small {nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<72x64x!q8_0>) -> tensor<?x2x24xf32> loc("small")
  return %y, %s : tensor<?x64xf32>, tensor<?x2x24xf32>
}
}
