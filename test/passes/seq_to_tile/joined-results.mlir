// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile 2> /dev/null | FileCheck %s

// Results that only a kernel which joins rows reads lie in its result: 13 and 5
// columns side by side are rows of 18, which the arena pads to 32 elements, 256
// bytes for both rows; alone they would have 16. The second part begins 13 * 4 = 52
// bytes further on. No launch joins them, and what reads the whole finds it there.
// A part that another kernel reads too has a buffer of its own, and so has what is
// joined with it.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 64, states = [
      <name = "tail", kind = tail, growth = fixed, type = tensor<1x5xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<13x5xf32>
seq.weight @w source("w") : tensor<13x5xf32>
seq.weight @taps source("taps") : tensor<2x5xf32>

// CHECK-LABEL: plan.entry @decode_2
// CHECK: %[[JOINED:.*]] = plan.arena bytes 256
// CHECK-NEXT: plan.launch @linear_1({{.*}}, %[[JOINED]])
// CHECK: %[[PART:.*]] = plan.offset %[[JOINED]] by 52
// CHECK: plan.launch @short_convolution_2({{.*}}%[[PART]]
// CHECK-NOT: plan.launch @concat
// CHECK: plan.launch @elementwise_3(%[[JOINED]],
// CHECK: tile.kernel @linear_1({{.*}}!tile.view<?x13xf32, [32, 1]>)
// CHECK: tile.kernel @short_convolution_2({{.*}}!tile.view<?x5xf32, [32, 1]>)
func.func @decode_2(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %tail: tensor<1x5xf32> {seq.state_name = "tail"})
    -> (tensor<?x18xf32>, tensor<1x5xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %table = seq.parameter @table : tensor<13x5xf32>
  %w = seq.parameter @w : tensor<13x5xf32>
  %taps = seq.parameter @taps : tensor<2x5xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<13x5xf32>) -> tensor<?x5xf32>
  %p = seq.linear %x, %w : (tensor<?x5xf32>, tensor<13x5xf32>) -> tensor<?x13xf32>
  %y, %next = seq.short_convolution %x parameters(%taps) state(%tail) {activation = #seq.activation<none>}
      : tensor<?x5xf32>, (tensor<2x5xf32>), tensor<1x5xf32>
  %j = seq.concat %p, %y {axis = 1 : i64} : (tensor<?x13xf32>, tensor<?x5xf32>) -> tensor<?x18xf32>
  %s = seq.silu %j : tensor<?x18xf32>
  %out = seq.select_rows %s, %rows : (tensor<?x18xf32>, tensor<?xi32>) -> tensor<?x18xf32>
  return %out, %next : tensor<?x18xf32>, tensor<1x5xf32>
}

// CHECK-LABEL: plan.entry @decode_3
// CHECK: plan.launch @concat
func.func @decode_3(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %tail: tensor<1x5xf32> {seq.state_name = "tail"})
    -> (tensor<?x18xf32>, tensor<1x5xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 3>} {
  %table = seq.parameter @table : tensor<13x5xf32>
  %w = seq.parameter @w : tensor<13x5xf32>
  %taps = seq.parameter @taps : tensor<2x5xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<13x5xf32>) -> tensor<?x5xf32>
  %y, %next = seq.short_convolution %x parameters(%taps) state(%tail) {activation = #seq.activation<none>}
      : tensor<?x5xf32>, (tensor<2x5xf32>), tensor<1x5xf32>
  %p = seq.linear %y, %w : (tensor<?x5xf32>, tensor<13x5xf32>) -> tensor<?x13xf32>
  %j = seq.concat %p, %y {axis = 1 : i64} : (tensor<?x13xf32>, tensor<?x5xf32>) -> tensor<?x18xf32>
  %out = seq.select_rows %j, %rows : (tensor<?x18xf32>, tensor<?xi32>) -> tensor<?x18xf32>
  return %out, %next : tensor<?x18xf32>, tensor<1x5xf32>
}
}
