// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 4 of 9 rows by an order of their own: what is taken of the scores has the
// numbers that the order gives, and each weight is its share of their sum.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x30xf32>
seq.weight @values source("values") : tensor<9x12xf32>

// CHECK-LABEL: tile.kernel @choose_rows_1(
// CHECK: %[[SCORES:.*]] = tile.load {{.*}} sizes [1, 1, 1, 9]
// CHECK: %[[ORDER:.*]] = tile.load {{.*}} sizes [1, 1, 1, 9]
// CHECK: %{{.*}}, %[[NUMBERS:.*]] = tile.top_k %[[ORDER]] : {{.*}} -> <4xf32, row>, <4xi32, row>
// CHECK: %[[TAKEN:.*]] = tile.take %[[SCORES]] by %[[NUMBERS]] : <9xf32, row>, <4xi32, row> -> <4xf32, row>
// CHECK: tile.reduce add %[[TAKEN]]
// CHECK: tile.store %[[NUMBERS]], {{.*}} sizes [1, 4]
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x12xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x30xf32>
  %values = seq.parameter @values : tensor<9x12xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x30xf32>) -> tensor<?x30xf32>
  %a = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 9 : i64} : tensor<?x30xf32> -> tensor<?x9xf32>
  %b = seq.slice %in {axis = 1 : i64, offset = 21 : i64, size = 9 : i64} : tensor<?x30xf32> -> tensor<?x9xf32>
  %scores = seq.reshape %a : tensor<?x9xf32> -> tensor<?x1x1x9xf32>
  %order = seq.reshape %b : tensor<?x9xf32> -> tensor<?x1x1x9xf32>
  %w, %chosen = seq.choose_rows %scores order(%order : tensor<?x1x1x9xf32>) {top_k = 4 : i64, weighting = #seq.weighting<share>}
      : tensor<?x1x1x9xf32> -> tensor<?x4xf32>, tensor<?x4xi32>
  %y = seq.sum_rows %w, %chosen, %values : (tensor<?x4xf32>, tensor<?x4xi32>, tensor<9x12xf32>) -> tensor<?x12xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x12xf32>, tensor<?xi32>) -> tensor<?x12xf32>
  return %out : tensor<?x12xf32>
}
}
