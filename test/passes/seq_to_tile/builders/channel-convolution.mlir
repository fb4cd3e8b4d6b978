// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// An item is a row. Taps of a token are scalars, and each reads the row some channels
// further on; rows that have been multiplied already are added as they lie.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 1536, states = [
    <name = "inputs", kind = growing, growth = max_context, type = tensor<64x6xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<11x6xf32>
seq.weight @taps source("taps") : tensor<45x3xf32>
seq.weight @pairs source("pairs") : tensor<45x45x2xf32>

// CHECK-LABEL: tile.kernel @channel_convolution_
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x6xf32, [16, 1]>, %[[W:[^:,]+]]: !tile.view<?x3xf32, [16, 1]>
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 1>) writes(2)
// CHECK: %[[ROW:.*]] = tile.load %[[X]][%[[ITEM]], %{{.*}}] sizes [1, 6]
// CHECK: %[[BEFORE:.*]] = tile.shift %[[ROW]] by -1
// CHECK: %[[FIRST:.*]] = tile.read %[[W]][%[[ITEM]], %{{.*}}]
// CHECK: %[[SECOND:.*]] = tile.read %[[W]][%[[ITEM]], %{{.*}}]
// CHECK: %[[AFTER:.*]] = tile.shift %[[ROW]] by 1
// CHECK: %[[THIRD:.*]] = tile.read %[[W]][%[[ITEM]], %{{.*}}]
// CHECK: tile.map(%[[BEFORE]], %[[ROW]], %[[AFTER]], %[[FIRST]], %[[SECOND]], %[[THIRD]], %{{.*}})
// CHECK-COUNT-3: math.fma
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
                      %inputs: tensor<64x6xf32> {seq.state_name = "inputs"})
    -> (tensor<?x6xf32>, tensor<64x6xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x6xf32>
  %taps = seq.parameter @taps : tensor<45x3xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
  %w = seq.embedding %positions, %taps : (tensor<?xi32>, tensor<45x3xf32>) -> tensor<?x3xf32>
  %y = seq.channel_convolution %x weight(%w) {before = 1 : i64} : (tensor<?x6xf32>, tensor<?x3xf32>) -> tensor<?x6xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
  return %out, %inputs : tensor<?x6xf32>, tensor<64x6xf32>
}

// The sums of two weights for each pair are items of their own.
// CHECK-LABEL: tile.kernel @causal_mix_
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x6xf32, [16, 1]>, %[[W:[^:,]+]]: !tile.view<45x45x2xf32, [96, 2, 1]>
// CHECK-SAME: items(#tile.items<segments, tile = 1, times = 2>)
// CHECK: %[[SEQUENCE:.*]] = arith.divui %{{.*}}, %c2
// CHECK: %[[NUMBER:.*]] = arith.remui %{{.*}}, %c2
// CHECK: tile.segment %{{.*}}[%[[SEQUENCE]]]
// CHECK: tile.read %[[W]][%{{.*}}, %{{.*}}, %[[NUMBER]]]
// CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %[[NUMBER]], %{{.*}}] sizes [1, 1, 6]
// CHECK-LABEL: tile.kernel @channel_convolution_
// CHECK-SAME: %[[ITEM:[^:,]+]], %[[X:[^:,]+]]: !tile.view<?x2x6xf32, [16, 6, 1]>
// CHECK: %[[FIRST:.*]] = tile.load %[[X]][%[[ITEM]], %{{.*}}, %{{.*}}] sizes [1, 1, 6]
// CHECK: %[[SECOND:.*]] = tile.load %[[X]][%[[ITEM]], %{{.*}}, %{{.*}}] sizes [1, 1, 6]
// CHECK: %[[AFTER:.*]] = tile.shift %[[SECOND]] by 1
// CHECK: tile.map(%[[FIRST]], %[[AFTER]], %{{.*}})
// CHECK-COUNT-2: arith.addf
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
                    %inputs: tensor<64x6xf32> {seq.state_name = "inputs"})
    -> (tensor<?x6xf32>, tensor<64x6xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x6xf32>
  %pairs = seq.parameter @pairs : tensor<45x45x2xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
  %m, %next = seq.causal_mix %x positions(%positions) parameters(%pairs) state(%inputs)
      : (tensor<?x6xf32>, tensor<?xi32>, tensor<45x45x2xf32>, tensor<64x6xf32>) -> (tensor<?x2x6xf32>, tensor<64x6xf32>)
  %y = seq.channel_convolution %m {before = 0 : i64} : (tensor<?x2x6xf32>) -> tensor<?x6xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
  return %out, %next : tensor<?x6xf32>, tensor<64x6xf32>
}
}
