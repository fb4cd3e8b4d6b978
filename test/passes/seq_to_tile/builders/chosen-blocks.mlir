// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// Blocks of 8 positions. Sums come first: what is scored with them follows in a launch of its
// own. A step looks at the 3 numbers that a head has chosen before it reads a block's keys.

// CHECK: plan.launch @[[SUMS:choose_blocks_[0-9]+]](%{{.*}}, %{{.*}}, %{{.*}}) items <segments, tile = 1, times = 1>
// CHECK-NEXT: plan.launch @[[SUMS]]_choose({{.*}}) items <segments, tile = 1, times = 2>
// CHECK: plan.launch @[[MIX:attention_[0-9]+]]({{.*}}) items <segments, tile = 1, times = 2>
// CHECK-NEXT: %{{.*}} = plan.offset
// CHECK-NEXT: plan.launch @[[MIX]]_append(
// CHECK: plan.launch @[[MEANS:mix_block_means_[0-9]+]](
// CHECK: plan.launch @[[MEANS]]_mix(

// CHECK: tile.kernel @[[SUMS]](%{{.*}}, %{{.*}}, %[[STATE:[^:]+]]: !tile.view<?x8x1x5xf32,
// CHECK: %[[BEFORE:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (!tile.tile<5xf32, row>)
// CHECK: tile.load %[[STATE]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[BEFORE]])
// CHECK: arith.addf
// CHECK: tile.store %{{.*}}, %[[STATE]]

// Scores of 32 blocks together go to memory; the own block comes before all of them, and a
// later one behind.
// CHECK: tile.kernel @[[SUMS]]_choose(
// CHECK: tile.load {{.*}} rows(%{{.*}}) sizes [1, 32, 1, 5]
// CHECK: tile.dot {{.*}} transpose_b : <1x32xf32, accumulator>
// CHECK: tile.store %{{.*}}, %[[SCORES:arg[0-9]+]][
// CHECK: %[[ROW:.*]] = tile.load %[[SCORES]][{{.*}}] sizes [1, 1, 32]
// CHECK: %[[KEYS:.*]] = tile.map(%[[ROW]])
// CHECK: arith.constant 0x7F800000 : f32
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: tile.top_k %[[KEYS]] : !tile.tile<32xf32, row> -> <3xf32, row>, <3xi32, row>

// CHECK: tile.kernel @[[MIX]](
// CHECK: %[[CHOSEN:.*]] = tile.load {{.*}} sizes [1, 1, 3] : <?x2x3xi32,
// CHECK: scf.for
// CHECK: %[[HITS:.*]] = tile.map(%[[CHOSEN]])
// CHECK: arith.cmpi eq
// CHECK: %[[ANY:.*]] = tile.reduce max %[[HITS]] over columns : <3xf32, row> -> f32
// CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[ANY]]
// CHECK: arith.select %[[IS]]
// CHECK: scf.for
// CHECK: tile.load {{.*}} sizes [1, 8, 1, 5]

// CHECK: tile.kernel @[[MEANS]]_mix(
// CHECK: scf.for {{.*}} step %c32
// CHECK: tile.dot {{.*}} : <2x32xf32, accumulator>
// CHECK: tile.dot {{.*}} : <2x3xf32, accumulator>

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 4096, states = [
    <name = "sums", kind = sum, growth = fixed, type = tensor<8x1x5xf32>, neutral = 0.0 : f32, offset = 0>,
    <name = "keys", kind = growing, growth = max_context, type = tensor<64x1x5xf32>, neutral = 0.0 : f32, offset = 256>,
    <name = "key_sums", kind = sum, growth = fixed, type = tensor<8x1x5xf32>, neutral = 0.0 : f32, offset = 1536>,
    <name = "value_sums", kind = sum, growth = fixed, type = tensor<8x1x3xf32>, neutral = 0.0 : f32, offset = 1792>]>} {
seq.weight @table source("table") : tensor<11x18xf32>

func.func @decode_4(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
                    %sums: tensor<8x1x5xf32> {seq.state_name = "sums"},
                    %keys: tensor<64x1x5xf32> {seq.state_name = "keys"},
                    %key_sums: tensor<8x1x5xf32> {seq.state_name = "key_sums"},
                    %value_sums: tensor<8x1x3xf32> {seq.state_name = "value_sums"})
    -> (tensor<?x12xf32>, tensor<8x1x5xf32>, tensor<64x1x5xf32>, tensor<8x1x5xf32>, tensor<8x1x3xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 4>} {
  %table = seq.parameter @table : tensor<11x18xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x18xf32>) -> tensor<?x18xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 10 : i64} : tensor<?x18xf32> -> tensor<?x10xf32>
  %q = seq.reshape %q0 : tensor<?x10xf32> -> tensor<?x2x5xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 10 : i64, size = 5 : i64} : tensor<?x18xf32> -> tensor<?x5xf32>
  %k = seq.reshape %k0 : tensor<?x5xf32> -> tensor<?x1x5xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 15 : i64, size = 3 : i64} : tensor<?x18xf32> -> tensor<?x3xf32>
  %v = seq.reshape %v0 : tensor<?x3xf32> -> tensor<?x1x3xf32>
  %chosen, %next_sums = seq.choose_blocks %q, %k positions(%positions) state(%sums)
      {block = 8 : i64, scale = 0.5 : f64, score = #seq.block_score<mean>}
      : (tensor<?x2x5xf32>, tensor<?x1x5xf32>, tensor<?xi32>, tensor<8x1x5xf32>)
        -> (tensor<?x2x3xi32>, tensor<8x1x5xf32>)
  %y, %next_keys = seq.attention %q, %k positions(%positions) blocks(%chosen) states(%keys)
      {block = 8 : i64, scale = 0.5 : f64, form = #seq.form<kind = step>}
      : (tensor<?x2x5xf32>, tensor<?x1x5xf32>, tensor<?xi32>, tensor<?x2x3xi32>, tensor<64x1x5xf32>)
        -> (tensor<?x2x3xf32>, tensor<64x1x5xf32>)
  %z, %next_k, %next_v = seq.mix_block_means %q, %k, %v positions(%positions) states(%key_sums, %value_sums)
      {block = 8 : i64, scale = 0.5 : f64}
      : (tensor<?x2x5xf32>, tensor<?x1x5xf32>, tensor<?x1x3xf32>, tensor<?xi32>, tensor<8x1x5xf32>, tensor<8x1x3xf32>)
        -> (tensor<?x2x3xf32>, tensor<8x1x5xf32>, tensor<8x1x3xf32>)
  %y0 = seq.reshape %y : tensor<?x2x3xf32> -> tensor<?x6xf32>
  %z0 = seq.reshape %z : tensor<?x2x3xf32> -> tensor<?x6xf32>
  %both = seq.concat %y0, %z0 {axis = 1 : i64} : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x12xf32>
  %out = seq.select_rows %both, %rows : (tensor<?x12xf32>, tensor<?xi32>) -> tensor<?x12xf32>
  return %out, %next_sums, %next_keys, %next_k, %next_v
      : tensor<?x12xf32>, tensor<8x1x5xf32>, tensor<64x1x5xf32>, tensor<8x1x5xf32>, tensor<8x1x3xf32>
}
}

