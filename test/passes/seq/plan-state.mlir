// RUN: effc-opt %s --seq-plan-state | FileCheck %s
// RUN: effc-opt %s --seq-plan-state --seq-plan-state | FileCheck %s
// RUN: effc-opt %s --seq-plan-state=alignment=128 | FileCheck %s --check-prefix=WIDE
// RUN: effc-opt %s --seq-plan-state=matrix-type=bf16 2>&1 | FileCheck %s --check-prefix=BF16

// The tail holds 3 * 11 f32, bytes 0..131, and the state 2 * 3 * 6, 144 bytes. It
// starts at 192, the first multiple of 64 past 132 (32 would give 160, 128 gives
// 256), and ends at 336; the slot at 384, the next multiple of 64.
// With 128 the state ends at 256 + 144 = 400 and the slot at 512.

// CHECK: module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 384, states = [
// CHECK-SAME: <name = "layers.0.conv", kind = tail, growth = fixed, type = tensor<3x11xf32>, neutral = 0.000000e+00 : f32, offset = 0>,
// CHECK-SAME: <name = "layers.0.ssd", kind = matrix, growth = fixed, type = tensor<2x3x6xf32>, neutral = 0.000000e+00 : f32, offset = 192>]>}
// WIDE: slot_bytes = 512
// WIDE-SAME: "layers.0.conv"{{.*}} offset = 0>
// WIDE-SAME: "layers.0.ssd"{{.*}} offset = 256>

// RUN: sed -e '1i module attributes {tile.target = #tile.target<host, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 49152>} {' \
// RUN:   -e '$a }' %s | effc-opt --seq-plan-state=matrix-type=bf16 2>&1 | FileCheck %s --check-prefix=FREE

// As bf16 the matrix takes 72 bytes and ends at 264; the tail stays what it is.
// BF16: remark: fallback: state 'layers.0.ssd' is stored as 'bf16': it is rounded at the end of every call, so that results depend on how prompts are cut or packed
// BF16: note: no fallback without bit stability, which is the default (--no-bit-stable)
// BF16: slot_bytes = 320
// BF16-SAME: tensor<3x11xf32>
// BF16-SAME: type = tensor<2x3x6xbf16>, neutral = 0.000000e+00 : bf16, offset = 192>

// Where nobody wants stable bits nothing is given up.
// FREE: remark: state 'layers.0.ssd' is stored as 'bf16'
// FREE-NOT: note: no fallback

// Of 8 bits are keys and values alone, and a model without them does not get what was
// asked for.
// RUN: effc-opt %s --seq-plan-state=matrix-type=int8 2>&1 | FileCheck %s
// RUN: effc-opt %s --seq-plan-state=matrix-type=int8 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: remark: fallback: all states stay as they are: 8 bits are for keys and values, and the model keeps none for each head

func.func @forward(%u: tensor<?x11xf32>, %w: tensor<4x11xf32>,
                   %tail: tensor<3x11xf32> {seq.state_name = "layers.0.conv"},
                   %x: tensor<?x2x6xf32>, %dt: tensor<?x2xf32>, %b: tensor<?x1x3xf32>, %h: tensor<2xf32>,
                   %s: tensor<2x3x6xf32> {seq.state_name = "layers.0.ssd"})
    -> (tensor<3x11xf32>, tensor<2x3x6xf32>) {
  %c, %next_tail = seq.short_convolution %u parameters(%w) state(%tail)
      {activation = #seq.activation<none>} : tensor<?x11xf32>, (tensor<4x11xf32>), tensor<3x11xf32>
  %y, %next = seq.ssd %x, %dt, %b, %b parameters(%h, %h, %h) state(%s)
      : (tensor<?x2x6xf32>, tensor<?x2xf32>, tensor<?x1x3xf32>, tensor<?x1x3xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x3x6xf32>
  return %next_tail, %next : tensor<3x11xf32>, tensor<2x3x6xf32>
}
