// RUN: effc-opt %s --seq-choose-forms 2>&1 | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: effc-opt %s --seq-choose-forms=force=quadratic 2>&1 | FileCheck %s --check-prefixes=CHECK,FORCED

// A retrieval has one form; who asks for another is told.

// FREE: remark: form in prefill_16: step, by candidates
// FORCED: remark: fallback: form in prefill_16: step, by candidates instead of quadratic, which has no kernel
// CHECK: remark: form in decode_1: step, by candidates
// CHECK-LABEL: func.func @prefill_16
// CHECK: seq.product_key_memory {{.*}} {form = #seq.form<kind = step>
module attributes {tile.target = #tile.target<host, bit_stable = true, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 49152>} {
func.func @prefill_16(%scores: tensor<?x2x3x7xf32>, %values: tensor<49x5xf32>) -> tensor<?x5xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %y = seq.product_key_memory %scores parameters(%values) {top_k = 4 : i64}
      : tensor<?x2x3x7xf32>, (tensor<49x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func @decode_1(%scores: tensor<?x2x3x7xf32>, %values: tensor<49x5xf32>) -> tensor<?x5xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %y = seq.product_key_memory %scores parameters(%values) {top_k = 4 : i64}
      : tensor<?x2x3x7xf32>, (tensor<49x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
}
