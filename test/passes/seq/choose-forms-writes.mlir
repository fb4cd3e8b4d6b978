// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-choose-forms 2>&1 | FileCheck %s
// RUN: effc-opt %s --seq-choose-forms 2>&1 | FileCheck %s --check-prefix=STABLE
// RUN: effc-opt %s --seq-choose-forms=force=chunkwise:16 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: effc-opt %s --seq-choose-forms=force=quadratic 2>&1 | FileCheck %s --check-prefix=QUADRATIC
// RUN: effc-opt %s --seq-choose-forms=force=scan 2>&1 | FileCheck %s --check-prefix=SCAN
// RUN: sed 's/<nvptx, .*>}/<host, bit_stable = true, vector = 8, registers = 16, step_rate = 16, dot_rate = 20, state_bytes = 32768>}/' %s \
// RUN:   | effc-opt --seq-choose-forms 2>&1 | FileCheck %s --check-prefix=HOST

// Two corrections a token, K, V = 32, 64. A time loop takes (3 + 2 * 4) * 2048 / 60 = 375
// cycles and waits for 500 + 4 * 50. A chunk of 8 tokens has 16 rows of
//   6 * 2048 + 2 * 16 * (32 + 64) + 4 * 256 * 3 (system) + 16 * 40 (decays)
//     + 2 * 16 * (32 + 64 + (32 + 64) / 2) (making rows and tokens) = 23680 FLOPs, 79
//   cycles, and waits for 500 + 15 * 50 + (3 * 3 + 2 * 2 + 2) * 6 * 33 = 4220: 158 + 528
//   a token.

#h = affine_map<(h, k, v) -> (h)>
#rate = affine_map<(h, v) -> (h)>
#all = affine_map<(h, v) -> (h, v)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
module attributes {tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// CHECK-NOT: fallback
// CHECK: remark: form in prefill_48: chunkwise of 8, 685 cycles per token and head; others would take 1075 (step), 2039 (quadratic, without a kernel)
// STABLE: remark: form in prefill_48: step, 1075 cycles per token and head, for the same bits wherever a prompt is cut; others would take 685 (chunkwise of 8), 2039 (quadratic, without a kernel)
// CHUNKS: remark: fallback: form in prefill_48: chunkwise of 8 instead of 16, which is more than a kernel takes
// QUADRATIC: remark: fallback: form in prefill_48: step instead of quadratic, since no kernel takes more than 8 tokens at once with 'writes = 2'
// SCAN: remark: fallback: form in prefill_48: step instead of scan, since kernels compute this recurrence by step, chunkwise or quadratic: with 'low_rank = decayed_state' pieces would hand on matrices
// HOST-NOT: fallback
// HOST: remark: form in prefill_48: step, the one form with a kernel for 'low_rank = decayed_state'
func.func @prefill_48(%q0: tensor<?x2x32xf32>, %k0: tensor<?x2x32xf32>, %p0: tensor<?x2x32xf32>, %v0: tensor<?x2x64xf32>,
                           %b0: tensor<?x2xf32>, %g0: tensor<?x2xf32>, %s0: tensor<2x32x64xf32>) -> (tensor<?x2x64xf32>, tensor<2x32x64xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<?x2x32xf32>, %k = %k0 : tensor<?x2x32xf32>, %p = %p0 : tensor<?x2x32xf32>,
             %v = %v0 : tensor<?x2x64xf32>, %b = %b0 : tensor<?x2xf32>, %g = %g0 : tensor<?x2xf32>)
      parameters() states(%s = %s0 : tensor<2x32x64xf32>) -> (tensor<?x2x64xf32>), (tensor<2x32x64xf32>) {
    %f = seq.sigmoid %g : tensor<2xf32>
    %kept = seq.contract %f, %s {indexing_maps = [#h, #state, #state]} : (tensor<2xf32>, tensor<2x32x64xf32>) -> tensor<2x32x64xf32>
    %seen = seq.contract %k, %kept {indexing_maps = [#key, #state, #value]} : (tensor<2x32xf32>, tensor<2x32x64xf32>) -> tensor<2x64xf32>
    %error = seq.sub %v, %seen : tensor<2x64xf32>
    %change = seq.contract %b, %error {indexing_maps = [#rate, #all, #all]} : (tensor<2xf32>, tensor<2x64xf32>) -> tensor<2x64xf32>
    %written = seq.contract %k, %change {indexing_maps = [#key, #value, #state]} : (tensor<2x32xf32>, tensor<2x64xf32>) -> tensor<2x32x64xf32>
    %half = seq.add %kept, %written : tensor<2x32x64xf32>
    %again = seq.contract %p, %half {indexing_maps = [#key, #state, #value]} : (tensor<2x32xf32>, tensor<2x32x64xf32>) -> tensor<2x64xf32>
    %rest = seq.sub %again, %v : tensor<2x64xf32>
    %more = seq.contract %p, %rest {indexing_maps = [#key, #value, #state]} : (tensor<2x32xf32>, tensor<2x64xf32>) -> tensor<2x32x64xf32>
    %next = seq.sub %half, %more : tensor<2x32x64xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<2x32xf32>, tensor<2x32x64xf32>) -> tensor<2x64xf32>
    seq.yield %read, %next : tensor<2x64xf32>, tensor<2x32x64xf32>
  }
  return %y, %last : tensor<?x2x64xf32>, tensor<2x32x64xf32>
}
}
