// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s
// RUN: sed 's/%%q, %%next {indexing_maps = \[#key, #state, #value\]}/%%r, %%next {indexing_maps = [#key, #state, #value]}/' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/registers = 255, step/registers = 511, step/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/147456/144384/; s/2x96x192x/2x96x188x/g; s/x2x192xf32/x2x188xf32/g; s/<2x192xf32/<2x188xf32/g; s/x384xf32/x376xf32/g' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=UNDIVIDED

// No multiple of 8 but themselves divides 188 channels, so that a head stays whole.
// UNDIVIDED-LABEL: tile.kernel @recurrence_
// UNDIVIDED-SAME: times = 2>

// 2 heads of 96 x 192 elements, of which 256 threads hold 16,384: each of 256 registers
// gives a quarter. So an item has at most 170 value channels, of which 96 divide a head.
// Where a channel's number depends on other channels the head stays whole, and so it does
// where threads have twice as many registers.

#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 147456, states = [
      <name = "s", kind = matrix, growth = fixed, type = tensor<2x96x192xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @keys source("keys") : tensor<11x192xf32>
seq.weight @values source("values") : tensor<11x384xf32>

// CHECK-LABEL: tile.kernel @recurrence_
// CHECK-SAME: items(#tile.items<segments, tile = 1, times = 4>)
// CHECK: %[[PART:.*]] = arith.remui %{{.*}}, %c4
// CHECK: %[[HEAD:.*]] = arith.divui %[[PART]], %c2
// CHECK: %[[BLOCK:.*]] = arith.remui %[[PART]], %c2
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c96
// CHECK: tile.load {{.*}}[%{{.*}}, %[[HEAD]], %{{.*}}, %[[FIRST]]]{{.*}} sizes [1, 1, 96, 96] {{.*}} -> <96x96xf32, accumulator>
// CHECK: scf.for
// CHECK: tile.load {{.*}}[%{{.*}}, %[[HEAD]], %{{.*}}] sizes [1, 1, 96] {{.*}} -> <96xf32, column>
// CHECK: tile.load {{.*}}[%{{.*}}, %[[HEAD]], %[[FIRST]]] sizes [1, 1, 96] {{.*}} -> <96xf32, row>
// CHECK: tile.store {{.*}}[%{{.*}}, %[[HEAD]], %[[FIRST]]] sizes [1, 1, 96]
// CHECK: tile.store {{.*}}[%{{.*}}, %[[HEAD]], %{{.*}}, %[[FIRST]]] sizes [1, 1, 96, 96]
// WHOLE-LABEL: tile.kernel @recurrence_
// WHOLE-SAME: items(#tile.items<segments, tile = 1, times = 2>)
// WHOLE: sizes [1, 1, 96, 192]
func.func @decode_8(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s0: tensor<2x96x192xf32> {seq.state_name = "s"})
    -> (tensor<?x384xf32>, tensor<2x96x192xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 8>} {
  %keys = seq.parameter @keys : tensor<11x192xf32>
  %values = seq.parameter @values : tensor<11x384xf32>
  %k1 = seq.embedding %tokens, %keys : (tensor<?xi32>, tensor<11x192xf32>) -> tensor<?x192xf32>
  %k0 = seq.reshape %k1 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  %v1 = seq.embedding %tokens, %values : (tensor<?xi32>, tensor<11x384xf32>) -> tensor<?x384xf32>
  %v0 = seq.reshape %v1 : tensor<?x384xf32> -> tensor<?x2x192xf32>
  %y, %s1 = seq.recurrence
      tokens(%q = %k0 : tensor<?x2x96xf32>, %k = %k0 : tensor<?x2x96xf32>, %v = %v0 : tensor<?x2x192xf32>)
      parameters() states(%s = %s0 : tensor<2x96x192xf32>) -> (tensor<?x2x192xf32>), (tensor<2x96x192xf32>)
      attributes {form = #seq.form<kind = step>} {
    %kept = seq.tanh %s : tensor<2x96x192xf32>
    %written = seq.contract %k, %v {indexing_maps = [#key, #value, #state]} : (tensor<2x96xf32>, tensor<2x192xf32>) -> tensor<2x96x192xf32>
    %next = seq.add %kept, %written : tensor<2x96x192xf32>
    %r = seq.contract %v, %next {indexing_maps = [#value, #state, #key]} : (tensor<2x192xf32>, tensor<2x96x192xf32>) -> tensor<2x96xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<2x96xf32>, tensor<2x96x192xf32>) -> tensor<2x192xf32>
    seq.yield %read, %next : tensor<2x192xf32>, tensor<2x96x192xf32>
  }
  %y0 = seq.reshape %y : tensor<?x2x192xf32> -> tensor<?x384xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x384xf32>, tensor<?xi32>) -> tensor<?x384xf32>
  return %out, %s1 : tensor<?x384xf32>, tensor<2x96x192xf32>
}
}
