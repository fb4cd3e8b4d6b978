// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s
// RUN: sed 's/rows = 6>/rows = 54>/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=MANY
// RUN: sed 's/#tile.target<nvptx,/#tile.target<nvptx, bit_stable = true,/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=MANY

// A step of six sequences, 2 heads of 128 x 128 elements each: 12 items would be 64
// elements of each of 256 threads. In halves a thread has 32, in quarters of so many
// threads as well. So 24 items have 64 value channels, and 108 cores wait for half as
// long. Of 54 sequences each core has an item. Where bits are to be stable they are those
// of any other call.

// CHECK-LABEL: tile.kernel @linear_attention_
// CHECK-SAME: items(#tile.items<segments, tile = 1, times = 4>)
// CHECK: sizes [1, 1, 128, 64]
// MANY-LABEL: tile.kernel @linear_attention_
// MANY-SAME: items(#tile.items<segments, tile = 1, times = 2>)
// MANY: sizes [1, 1, 128, 128]
module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 131072, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<2x128x128xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x256xf32>
func.func @decode(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s0: tensor<2x128x128xf32> {seq.state_name = "s"})
    -> (tensor<?x256xf32>, tensor<2x128x128xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 6>} {
  %table = seq.parameter @table : tensor<11x256xf32>
  %x0 = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x256xf32>) -> tensor<?x256xf32>
  %x = seq.reshape %x0 : tensor<?x256xf32> -> tensor<?x2x128xf32>
  %y, %s1 = seq.linear_attention %x, %x, %x state(%s0) {form = #seq.form<kind = step>, scale = 1.0 : f64}
      : (tensor<?x2x128xf32>, tensor<?x2x128xf32>, tensor<?x2x128xf32>, tensor<2x128x128xf32>)
      -> (tensor<?x2x128xf32>, tensor<2x128x128xf32>)
  %y0 = seq.reshape %y : tensor<?x2x128xf32> -> tensor<?x256xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x256xf32>, tensor<?xi32>) -> tensor<?x256xf32>
  return %out, %s1 : tensor<?x256xf32>, tensor<2x128x128xf32>
}
}
