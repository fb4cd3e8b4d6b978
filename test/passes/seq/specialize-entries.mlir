// RUN: effc-opt %s --seq-specialize-entries="prefill-rows=16,64 decode-rows=1,3" | FileCheck %s

// Two prefill and two decode entries with the body of @forward, which is gone;
// another function is left as it is.

// CHECK-LABEL: func.func @prefill_16(
// CHECK-SAME: %{{.*}}: tensor<?xi32>, %[[TAIL:.*]]: tensor<3x11xf32> {seq.state_name = "tail"})
// CHECK-SAME: attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>}
// CHECK: seq.short_convolution %{{.*}} state(%[[TAIL]])
// CHECK-LABEL: func.func @prefill_64(
// CHECK-SAME: attributes {seq.entry = #seq.entry<kind = prefill, rows = 64>}
// CHECK-LABEL: func.func @decode_1(
// CHECK-SAME: attributes {seq.entry = #seq.entry<kind = decode, rows = 1>}
// CHECK-LABEL: func.func @decode_3(
// CHECK-SAME: attributes {seq.entry = #seq.entry<kind = decode, rows = 3>}
// CHECK: seq.short_convolution %{{.*}} : tensor<?x11xf32>
// CHECK-NOT: @forward
// CHECK-LABEL: func.func private @other()
func.func @forward(%x: tensor<?x11xf32>, %w: tensor<4x11xf32>, %rows: tensor<?xi32>,
                   %tail: tensor<3x11xf32> {seq.state_name = "tail"}) -> tensor<3x11xf32> {
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      {activation = #seq.activation<none>} : tensor<?x11xf32>, (tensor<4x11xf32>), tensor<3x11xf32>
  return %next : tensor<3x11xf32>
}

func.func private @other()
