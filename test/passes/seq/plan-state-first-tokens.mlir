// RUN: effc-opt %s --seq-plan-state | FileCheck %s

// The first tokens' keys are states of their own, which do not grow: 3 * 2 * 4 f32 are
// 96 bytes, from 256 + 192 = 448 on; values 3 * 2 * 3, 72, from 576 on, the first
// multiple of 64 past 544.

// CHECK: #seq.state_layout<slot_bytes = 704, states = [
// CHECK-SAME: <name = "keys", kind = window, growth = window, type = tensor<8x2x4xf32>, neutral = 0.000000e+00 : f32, offset = 0>
// CHECK-SAME: <name = "values", kind = window, growth = window, type = tensor<8x2x3xf32>, neutral = 0.000000e+00 : f32, offset = 256>
// CHECK-SAME: <name = "first_keys", kind = growing, growth = fixed, type = tensor<3x2x4xf32>, neutral = 0.000000e+00 : f32, offset = 448>
// CHECK-SAME: <name = "first_values", kind = growing, growth = fixed, type = tensor<3x2x3xf32>, neutral = 0.000000e+00 : f32, offset = 576>
func.func @forward(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %p: tensor<?xi32>,
                   %keys: tensor<8x2x4xf32> {seq.state_name = "keys"},
                   %values: tensor<8x2x3xf32> {seq.state_name = "values"},
                   %first_keys: tensor<3x2x4xf32> {seq.state_name = "first_keys"},
                   %first_values: tensor<3x2x3xf32> {seq.state_name = "first_values"})
    -> (tensor<8x2x4xf32>, tensor<8x2x3xf32>, tensor<3x2x4xf32>, tensor<3x2x3xf32>) {
  %y, %a, %b, %c, %d = seq.attention %q, %k, %v positions(%p) sink_query(%q) states(%keys, %values)
      sink_states(%first_keys, %first_values) {window = 4 : i64, scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?xi32>, tensor<?x6x4xf32>,
         tensor<8x2x4xf32>, tensor<8x2x3xf32>, tensor<3x2x4xf32>, tensor<3x2x3xf32>)
        -> (tensor<?x6x3xf32>, tensor<8x2x4xf32>, tensor<8x2x3xf32>, tensor<3x2x4xf32>, tensor<3x2x3xf32>)
  return %a, %b, %c, %d : tensor<8x2x4xf32>, tensor<8x2x3xf32>, tensor<3x2x4xf32>, tensor<3x2x3xf32>
}
