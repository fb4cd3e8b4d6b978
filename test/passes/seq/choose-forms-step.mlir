// RUN: effc-opt %s --seq-choose-forms 2>&1 | FileCheck %s --check-prefix=FREE
// RUN: effc-opt %s --seq-choose-forms=force=scan 2>&1 | FileCheck %s --check-prefixes=FORCED,SCAN
// RUN: effc-opt %s --seq-choose-forms=force=chunkwise:16 2>&1 | FileCheck %s --check-prefixes=FORCED,CHUNKS

// Structures that have kernels for the step alone: the remark names the field.

module attributes {tile.target = #tile.target<host, bit_stable = true, vector = 8, registers = 16,
                                              step_rate = 16, dot_rate = 20, state_bytes = 32768>} {
// FREE: remark: form in prefill_48: step, the one form with a kernel for 'decay = value'
// SCAN: remark: fallback: form in prefill_48: step instead of scan, since kernels compute this recurrence by step alone: the host's threads have heads and channels enough, and a scan looks at each token twice
// CHUNKS: remark: fallback: form in prefill_48: step instead of chunkwise of 16, since kernels compute this recurrence by step alone: none takes chunks with 'decay = value'
// FREE: remark: form in prefill_48: step, the one form with a kernel for 'low_rank = decayed_state'
// CHUNKS: none takes chunks with 'low_rank = decayed_state'

// FORCED-LABEL: func.func @prefill_48
func.func @prefill_48(%x: tensor<?x2x5xf32>, %f: tensor<?x2x5xf32>, %l: tensor<2x5xf32>, %s: tensor<2x1x5xf32>,
                      %k: tensor<?x2x3xf32>, %b: tensor<?x2xf32>, %m: tensor<2x3x5xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  // FORCED: seq.hgrn {{.*}}form = #seq.form<kind = step>
  %y, %next = seq.hgrn %x, %f parameters(%l) state(%s)
      : (tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<2x5xf32>, tensor<2x1x5xf32>) -> (tensor<?x2x5xf32>, tensor<2x1x5xf32>)
  // FORCED: seq.delta_rule {{.*}}form = #seq.form<kind = step>
  %z, %last = seq.delta_rule %k, %k, %x, %b state(%m)
      : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x5xf32>, tensor<?x2xf32>, tensor<2x3x5xf32>) -> (tensor<?x2x5xf32>, tensor<2x3x5xf32>)
  return
}
}
