// RUN: effc-opt %s --seq-plan-state | FileCheck %s
// RUN: effc-opt %s --seq-plan-state=matrix-type=bf16 2>&1 | FileCheck %s --check-prefix=BF16
// RUN: effc-opt %s --seq-plan-state=matrix-type=f16 2>&1 | FileCheck %s --check-prefix=F16
// RUN: sed -e '1i module attributes {tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, vector = 32, registers = 255, step_rate = 24, dot_rate = 28, cores = 108, bandwidth = 1446, rereads = 1309>} {' \
// RUN:   -e '$a }' %s | effc-opt --seq-plan-state=matrix-type=bf16 2>&1 | FileCheck %s --check-prefix=GPU

// Keys are 8 * 2 * 4 f32, 256 bytes, values 8 * 2 * 3, 192. As bf16 they take 128
// and 96, and the slot 256.

// CHECK: #seq.state_layout<slot_bytes = 448, states = [
// CHECK-SAME: <name = "keys", kind = window, growth = window, type = tensor<8x2x4xf32>, neutral = 0.000000e+00 : f32, offset = 0>
// CHECK-SAME: <name = "values", kind = window, growth = window, type = tensor<8x2x3xf32>, neutral = 0.000000e+00 : f32, offset = 256>
// BF16-COUNT-2: remark: state '{{.*}}' is stored as 'bf16': what a token adds is rounded when it is made, wherever prompts are cut
// BF16: slot_bytes = 256
// F16: tensor<8x2x4xf16>
// GPU-COUNT-2: remark: fallback: state '{{.*}}' is stored as 'bf16': it is rounded at the end of every call
// BF16-SAME: tensor<8x2x4xbf16>
// BF16-SAME: tensor<8x2x3xbf16>, neutral = 0.000000e+00 : bf16, offset = 128>
func.func @forward(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %p: tensor<?xi32>,
                   %keys: tensor<8x2x4xf32> {seq.state_name = "keys"},
                   %values: tensor<8x2x3xf32> {seq.state_name = "values"})
    -> (tensor<8x2x4xf32>, tensor<8x2x3xf32>) {
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 4 : i64, scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?xi32>, tensor<8x2x4xf32>, tensor<8x2x3xf32>)
        -> (tensor<?x6x3xf32>, tensor<8x2x4xf32>, tensor<8x2x3xf32>)
  return %a, %b : tensor<8x2x4xf32>, tensor<8x2x3xf32>
}
