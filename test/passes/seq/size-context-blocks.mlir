// RUN: effc-opt %s --seq-size-context 2>&1 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: effc-opt %s --seq-size-context=positions=100 | FileCheck %s --check-prefixes=CHECK,ASKED

// Blocks of 24 positions: 3 of them hold 72, for which keys have 96 rows. 100 asked for are
// 128 rows of keys and 6 blocks.

// OWN: remark: contexts end at 72 positions, for which the model's states and tables are made
// OWN: max_context = 72>
// ASKED: max_context = 100>
module attributes {seq.model = #seq.model<family = "mine", vocabulary = 11, width = 6, max_context = 0>} {
// CHECK-LABEL: func.func @forward
// OWN-SAME: tensor<4x1x6xf32> {seq.state_name = "sums"}
// OWN-SAME: tensor<96x1x6xf32> {seq.state_name = "keys"}
// ASKED-SAME: tensor<6x1x6xf32> {seq.state_name = "sums"}
// ASKED-SAME: tensor<128x1x6xf32> {seq.state_name = "keys"}
func.func @forward(%x: tensor<?x6xf32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
                   %sums: tensor<3x1x6xf32> {seq.state_name = "sums"},
                   %keys: tensor<90x1x6xf32> {seq.state_name = "keys"})
    -> (tensor<?x2x6xf32>, tensor<3x1x6xf32>, tensor<90x1x6xf32>) {
  %k = seq.reshape %x : tensor<?x6xf32> -> tensor<?x1x6xf32>
  %q = seq.concat %k, %k {axis = 1 : i64} : (tensor<?x1x6xf32>, tensor<?x1x6xf32>) -> tensor<?x2x6xf32>
  %chosen, %next_sums = seq.choose_blocks %q, %k positions(%positions) state(%sums)
      {block = 24 : i64, scale = 1.0 : f64, score = #seq.block_score<mean>}
      : (tensor<?x2x6xf32>, tensor<?x1x6xf32>, tensor<?xi32>, tensor<3x1x6xf32>)
        -> (tensor<?x2x5xi32>, tensor<3x1x6xf32>)
  %y, %next_keys = seq.attention %q, %k positions(%positions) blocks(%chosen) states(%keys) {block = 24 : i64, scale = 1.0 : f64}
      : (tensor<?x2x6xf32>, tensor<?x1x6xf32>, tensor<?xi32>, tensor<?x2x5xi32>, tensor<90x1x6xf32>)
        -> (tensor<?x2x6xf32>, tensor<90x1x6xf32>)
  return %y, %next_sums, %next_keys : tensor<?x2x6xf32>, tensor<3x1x6xf32>, tensor<90x1x6xf32>
}
}
