// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-choose-forms 2>&1 | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: effc-opt %s --seq-choose-forms 2>&1 | FileCheck %s --check-prefix=STABLE
// RUN: effc-opt %s --seq-choose-forms=force=chunkwise:24 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: effc-opt %s --seq-choose-forms=force=quadratic 2>&1 | FileCheck %s --check-prefix=QUADRATIC
// RUN: effc-opt %s --seq-choose-forms=force=scan 2>&1 | FileCheck %s --check-prefix=SCAN

// A GPU takes chunks of decays per key channel and of rank-one corrections.
// K, V = 32, 64: a time loop takes 5 * 2048 / 60 = 171 cycles and waits for 600, with a
// correction 7 * 2048 / 60 = 239 and 600. A chunk of 16 has 4 halvings:
//   per key channel 4 * 2048 + 16 * 64 (values) + 4 * 2 * 16 * 32 (products)
//     + 5 * 2 * 16 * 32 (sums) + 6 * 32 * 40 (exponentials) = 26112 FLOPs, 87 cycles,
//     and waits for 1000 + 2 * 3 * 6 * 33 (products of 16 deep) = 2188, 137 a token;
//   corrected 6 * 2048 + 2 * 16 * (32 + 64) + 4 * 256 * 3 (system) + 16 * 40
//     = 19072 FLOPs, 64 cycles, and waits for 1000 + 3 * 3 * 6 * 33, 174 a token;
//   corrected before the decay per key channel, along keys of their own
//     8 * 2048 + 4 * 16 * 64 + 4 * 256 * 3 + 2 * 2 * 4 * 2 * 16 * 32
//     + (2 * 4 + 2) * 2 * 16 * 32 + 11 * 32 * 40 = 64256 FLOPs, 214 cycles, and 174.

module attributes {tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60,
                                              dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// A scan takes two time loops, whose pieces wait beside one another: six of 8 tokens,
// 2 * 171 + 600 / 6.
// All 48 tokens as one block have six halvings, 61440 FLOPs and 205 cycles, or a system of
// 69504 FLOPs in all, 232 cycles; no scan covers a correction.
// FREE: remark: form in prefill_48: chunkwise of 16, 224 cycles per token and head; others would take 771 (step), 267 (quadratic, if asked for), 441 (scan, if asked for)
// FREE: remark: form in prefill_48: chunkwise of 16, 237 cycles per token and head; others would take 839 (step), 314 (quadratic, if asked for)
// STABLE: remark: form in prefill_48: step, 771 cycles per token and head, for the same bits wherever a prompt is cut; others would take 224 (chunkwise of 16), 267 (quadratic, if asked for), 441 (scan, if asked for)
// STABLE: remark: form in prefill_48: step, 839 cycles per token and head, for the same bits wherever a prompt is cut; others would take 237 (chunkwise of 16), 314 (quadratic, if asked for)
// Sums before and behind a token's own decay at once leave room for 16 tokens, and
// for heads of many values; more than 256 key channels fill a block.
// FREE: remark: form in prefill_48: chunkwise of 16, 388 cycles per token and head; others would take 839 (step), 785 (quadratic, without a kernel)
// FREE: remark: fallback: form in prefill_48: step, the one form with a kernel for 'low_rank = undecayed_state and heads of 32 x 32'
// FREE: remark: form in prefill_48: scan, pieces of a sequence beside one another: no kernel takes chunks with 'key channels = 264'
// STABLE: remark: fallback: form in prefill_48: step, for the same bits wherever a prompt is cut, instead of scan: no kernel takes chunks with 'key channels = 264'
// CHUNKS-COUNT-2: remark: form in prefill_48: chunkwise of 24, as asked
// CHUNKS: remark: fallback: form in prefill_48: chunkwise of 16 instead of 24, which is more than a kernel takes
// CHUNKS: remark: fallback: form in prefill_48: step instead of chunkwise of 24, since kernels compute this recurrence by step alone: none takes chunks with 'low_rank = undecayed_state and heads of 32 x 32'
// CHUNKS: remark: fallback: form in prefill_48: scan instead of chunkwise of 24, since kernels compute this recurrence by step or scan: none takes chunks with 'key channels = 264'
// SCAN: remark: form in prefill_48: scan, as asked
// SCAN-COUNT-2: remark: fallback: form in prefill_48: step instead of scan, since kernels compute this recurrence by step, chunkwise or quadratic: with 'low_rank = {{[a-z_]*}}' pieces would hand on matrices
// QUADRATIC-COUNT-2: remark: form in prefill_48: quadratic, as asked
// QUADRATIC: remark: fallback: form in prefill_48: step instead of quadratic, since no kernel takes more than 16 tokens at once with 'low_rank = undecayed_state'

// CHECK-LABEL: func.func @prefill_48
func.func @prefill_48(%q: tensor<?x2x32xf32>, %v: tensor<?x2x64xf32>, %b: tensor<?x2xf32>, %s: tensor<2x32x64xf32>,
                      %k: tensor<?x2x264xf32>, %m: tensor<2x264x64xf32>, %t: tensor<2x32x32xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  // CHECK: seq.gated_linear_attention {{.*}}form = #seq.form<kind = chunkwise, chunk = 16>
  %y, %next = seq.gated_linear_attention %q, %q, %v key_gate(%q) state(%s)
      : (tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<?x2x64xf32>, tensor<?x2x32xf32>, tensor<2x32x64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2x32x64xf32>)
  // CHECK: seq.delta_rule {{.*}}form = #seq.form<kind = chunkwise, chunk = 16>
  %z, %last = seq.delta_rule %q, %q, %v, %b state(%s)
      : (tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<?x2x64xf32>, tensor<?x2xf32>, tensor<2x32x64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2x32x64xf32>)
  %x, %rest = seq.rwkv7 %q, %q, %q, %v, %q, %q state(%s)
      : (tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<?x2x64xf32>,
         tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<2x32x64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2x32x64xf32>)
  %n, %left = seq.rwkv7 %q, %q, %q, %q, %q, %q state(%t)
      : (tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<?x2x32xf32>,
         tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<2x32x32xf32>)
      -> (tensor<?x2x32xf32>, tensor<2x32x32xf32>)
  %w, %end = seq.gated_linear_attention %k, %k, %v key_gate(%k) state(%m)
      : (tensor<?x2x264xf32>, tensor<?x2x264xf32>, tensor<?x2x64xf32>, tensor<?x2x264xf32>, tensor<2x264x64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2x264x64xf32>)
  return
}
}
