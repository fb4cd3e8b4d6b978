// RUN: effc-opt %s --seq-choose-forms 2>&1 | FileCheck %s
// RUN: effc-opt %s --seq-choose-forms=force=chunkwise 2>&1 | FileCheck %s
// RUN: effc-opt %s --seq-choose-forms=force=quadratic 2>&1 | FileCheck %s --check-prefix=FORCED
// RUN: effc-opt %s --seq-choose-forms=force=chunkwise:8 2>&1 | FileCheck %s --check-prefix=CHUNK

// A window has one kernel for prefill, in blocks of keys, so nothing is weighed; another
// form that is asked for is not computed, and the remark says so.

module attributes {tile.target = #tile.target<host, bit_stable = true, vector = 8, registers = 16,
                                              step_rate = 16, dot_rate = 20, state_bytes = 32768>} {
// CHECK: remark: form in prefill_48: chunkwise in blocks of at most 32 keys, with the same bits wherever a prompt is cut
// CHECK: remark: form in decode_2: step, since each sequence has one token
// FORCED: remark: fallback: form in prefill_48: chunkwise in blocks of at most 32 keys instead of quadratic, which no kernel of this class computes
// CHUNK: remark: fallback: form in prefill_48: chunkwise in blocks of at most 32 keys instead of chunkwise of 8, which no kernel of this class computes

// CHECK-LABEL: func.func @prefill_48
func.func @prefill_48(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %p: tensor<?xi32>, %s: tensor<8x2x4xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  // CHECK: seq.attention {{.*}}form = #seq.form<kind = chunkwise, chunk = 32>
  %y, %a, %b = seq.attention %q, %k, %k positions(%p) states(%s, %s) {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>)
        -> (tensor<?x6x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>)
  return
}

// CHECK-LABEL: func.func @decode_2
func.func @decode_2(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %p: tensor<?xi32>, %s: tensor<8x2x4xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  // CHECK: seq.attention {{.*}}form = #seq.form<kind = step>
  %y, %a, %b = seq.attention %q, %k, %k positions(%p) states(%s, %s) {scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>)
        -> (tensor<?x6x4xf32>, tensor<8x2x4xf32>, tensor<8x2x4xf32>)
  return
}
}
