// RUN: effc-opt %s --seq-plan-state=matrix-type=bf16 2>&1 | FileCheck %s

// A rounding of a running sum or product would stay in it for good, so both keep f32
// where matrices do not. With nothing else to round, the type that was asked for goes to
// no state.
// CHECK-NOT: is stored as
// CHECK: remark: fallback: all states stay as they are: the model keeps no keys, values or matrices that may be rounded
// CHECK-NOT: is stored as
// CHECK: slot_bytes = 192
// CHECK-SAME: <name = "turn", {{.*}}type = tensor<2x1x3xf32>, neutral = 1.000000e+00 : f32, offset = 0>
// CHECK-SAME: <name = "turn_imaginary", {{.*}}type = tensor<2x1x3xf32>, neutral = 0.000000e+00 : f32, offset = 64>
// CHECK-SAME: <name = "total", {{.*}}type = tensor<2x1x5xf32>, neutral = 0.000000e+00 : f32, offset = 128>
func.func @forward(%angle: tensor<?x2x3xf32>, %x: tensor<?x2x5xf32>,
                   %re: tensor<2x1x3xf32> {seq.state_name = "turn"},
                   %im: tensor<2x1x3xf32> {seq.state_name = "turn_imaginary"},
                   %sum: tensor<2x1x5xf32> {seq.state_name = "total"})
    -> (tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x5xf32>) {
  %c, %turned:2 = seq.running_turn %angle state(%re, %im)
      : (tensor<?x2x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>)
      -> (tensor<?x2x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>)
  %y, %summed = seq.running_total %x state(%sum)
      : (tensor<?x2x5xf32>, tensor<2x1x5xf32>) -> (tensor<?x2x5xf32>, tensor<2x1x5xf32>)
  return %turned#0, %turned#1, %summed : tensor<2x1x3xf32>, tensor<2x1x3xf32>, tensor<2x1x5xf32>
}
