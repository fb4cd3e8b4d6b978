// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// The plain norm has one item for each row; the gated one, of 12 channels in 3
// groups, one for each group of 4, and divides by 4. The gate is the later half of
// the same rows, 12 * 4 = 48 bytes further on.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x24xf32>
seq.weight @w source("w") : tensor<24xf32>
seq.weight @g source("g") : tensor<12xf32>

// CHECK-LABEL: plan.entry @decode_1
// CHECK: plan.launch @embedding_0
// CHECK: %[[N:.*]] = plan.arena bytes 128
// CHECK: plan.launch @rms_norm_1(%{{.*}}, %{{.*}}, %[[N]])
// CHECK: %[[Z:.*]] = plan.offset %[[N]] by 48
// CHECK: plan.launch @gated_rms_norm_2(%[[N]], %[[Z]],

// CHECK-LABEL: tile.kernel @rms_norm_1(
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 1>)
// CHECK: %[[X:.*]] = tile.load {{.*}} sizes [1, 24]
// CHECK: %[[SQUARES:.*]] = tile.map(%[[X]])
// CHECK: %[[SUM:.*]] = tile.reduce add %[[SQUARES]] over columns
// CHECK: %[[WIDTH:.*]] = arith.constant 2.400000e+01
// CHECK: arith.divf %[[SUM]], %[[WIDTH]]
// CHECK: math.sqrt
// CHECK: tile.map(%[[X]], %{{.*}}, %{{.*}}) : (!tile.tile<24xf32, row>, f32, !tile.tile<24xf32, row>)

// CHECK-LABEL: tile.kernel @gated_rms_norm_2(
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x12xf32, [32, 1]>, %[[Z:[^:,]+]]: !tile.view<?x12xf32, [32, 1]>
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 3>)
// CHECK: %[[ROW:.*]] = arith.divui %[[ITEM]], %c3
// CHECK: %[[GROUP:.*]] = arith.remui %[[ITEM]], %c3
// CHECK: %[[COLUMN:.*]] = arith.muli %[[GROUP]], %c4
// CHECK: %[[XS:.*]] = tile.load %[[X]][%[[ROW]], %[[COLUMN]]] sizes [1, 4]
// CHECK: %[[ZS:.*]] = tile.load %[[Z]][%[[ROW]], %[[COLUMN]]] sizes [1, 4]
// CHECK: %[[GATED:.*]] = tile.map(%[[XS]], %[[ZS]])
// CHECK: math.exp
// CHECK: tile.map(%[[GATED]])
// CHECK: arith.constant 4.000000e+00
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x12xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x24xf32>
  %w = seq.parameter @w : tensor<24xf32>
  %g = seq.parameter @g : tensor<12xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x24xf32>) -> tensor<?x24xf32>
  %n = seq.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x24xf32>, tensor<24xf32>
  %a = seq.slice %n {axis = 1 : i64, offset = 0 : i64, size = 12 : i64} : tensor<?x24xf32> -> tensor<?x12xf32>
  %z = seq.slice %n {axis = 1 : i64, offset = 12 : i64, size = 12 : i64} : tensor<?x24xf32> -> tensor<?x12xf32>
  %y = seq.gated_rms_norm %a, %z, %g {eps = 1.0e-3 : f64, groups = 3 : i64} : tensor<?x12xf32>, tensor<12xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x12xf32>, tensor<?xi32>) -> tensor<?x12xf32>
  return %out : tensor<?x12xf32>
}
}
