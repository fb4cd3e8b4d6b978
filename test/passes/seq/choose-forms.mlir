// RUN: effc-opt %s --seq-choose-forms 2>&1 | FileCheck %s --check-prefixes=CHECK,STABLE
// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-choose-forms 2>&1 | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: effc-opt %s --seq-choose-forms=force=quadratic 2>&1 | FileCheck %s --check-prefix=QUADRATIC
// RUN: effc-opt %s --seq-choose-forms=force=chunkwise:24 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: effc-opt %s --seq-choose-forms=force=chunkwise 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: effc-opt %s --seq-choose-forms=force=scan 2>&1 | FileCheck %s --check-prefix=SCAN

// Large: K, V = 32, 64, so 2048 elements. A step takes 5 * 2048 / 16 = 640 cycles,
// a chunk of C (4 * 2048 + C * (96 + 40)) / 20: 518 for 16; 32 and 64 do not divide 48.
// Small: K, V = 3, 5. A step takes 75 / 16 = 4.7 cycles, a chunk of 16 (60 + 768) / 20 = 41.
// All 48 tokens as one block take (4 * 2048 + 48 * (96 + 40)) / 20 = 736 and 118, a scan
// two time loops.
// Of the default chunk, 64, the most that divides 48 rows is 48.

module attributes {tile.target = #tile.target<host, bit_stable = true, vector = 8, registers = 16,
                                              step_rate = 16, dot_rate = 20, state_bytes = 32768>} {
// CHECK: remark: form in prefill_48: step, 5 cycles per token and head; others would take 41 (chunkwise of 16), 118 (quadratic, if asked for), 9 (scan, without a kernel)
// STABLE: remark: form in prefill_48: step, 640 cycles per token and head, for the same bits wherever a prompt is cut; others would take 518 (chunkwise of 16), 736 (quadratic, if asked for), 1280 (scan, without a kernel)
// FREE: remark: form in prefill_48: chunkwise of 16, 518 cycles per token and head; others would take 640 (step), 736 (quadratic, if asked for), 1280 (scan, without a kernel)
// CHECK: remark: form in decode_2: step, since each sequence has one token
// QUADRATIC-COUNT-2: remark: form in prefill_48: quadratic, as asked
// QUADRATIC: remark: form in decode_2: step, since each sequence has one token
// CHUNKS: remark: form in prefill_48: chunkwise of 24, as asked
// DEFAULT: remark: form in prefill_48: chunkwise of 48, as asked
// SCAN: remark: fallback: form in prefill_48: step instead of scan, since kernels compute this recurrence by step, chunkwise or quadratic: the host's threads have heads and channels enough, and a scan looks at each token twice

// CHECK-LABEL: func.func @prefill_48
// CHUNKS-LABEL: func.func @prefill_48
func.func @prefill_48(%x: tensor<?x2x5xf32>, %dt: tensor<?x2xf32>, %b: tensor<?x1x3xf32>, %h: tensor<2xf32>,
                      %s: tensor<2x3x5xf32>, %x1: tensor<?x2x64xf32>, %b1: tensor<?x1x32xf32>, %s1: tensor<2x32x64xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  // CHECK: seq.ssd {{.*}} {form = #seq.form<kind = step>} : (tensor<?x2x5xf32>
  // CHUNKS: seq.ssd {{.*}} {form = #seq.form<kind = chunkwise, chunk = 24>} : (tensor<?x2x5xf32>
  %y, %next = seq.ssd %x, %dt, %b, %b parameters(%h, %h, %h) state(%s)
      : (tensor<?x2x5xf32>, tensor<?x2xf32>, tensor<?x1x3xf32>, tensor<?x1x3xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x3x5xf32>
  // STABLE: seq.ssd {{.*}} {form = #seq.form<kind = step>} : (tensor<?x2x64xf32>
  // FREE: seq.ssd {{.*}} {form = #seq.form<kind = chunkwise, chunk = 16>} : (tensor<?x2x64xf32>
  %y1, %next1 = seq.ssd %x1, %dt, %b1, %b1 parameters(%h, %h, %h) state(%s1)
      : (tensor<?x2x64xf32>, tensor<?x2xf32>, tensor<?x1x32xf32>, tensor<?x1x32xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x32x64xf32>
  return
}

// CHUNKS-LABEL: func.func @decode_2
func.func @decode_2(%x: tensor<?x2x64xf32>, %dt: tensor<?x2xf32>, %b: tensor<?x1x32xf32>, %h: tensor<2xf32>, %s: tensor<2x32x64xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  // CHUNKS: seq.ssd {{.*}} {form = #seq.form<kind = step>}
  %y, %next = seq.ssd %x, %dt, %b, %b parameters(%h, %h, %h) state(%s)
      : (tensor<?x2x64xf32>, tensor<?x2xf32>, tensor<?x1x32xf32>, tensor<?x1x32xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x32x64xf32>
  return
}
}
