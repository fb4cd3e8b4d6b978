// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The example of plan.entry, which holds those of its ops' simplest forms.

// CHECK-LABEL: plan.entry @decode_1 kind decode rows 1 chunk 1 arena 256 {
plan.entry @decode_1 kind decode rows 1 chunk 1 arena 256 {
  // CHECK: %[[T:.*]] = plan.table tokens
  // CHECK: %[[X:.*]] = plan.arena bytes 256 offset 0
  // CHECK: %[[W:.*]] = plan.weight @embeddings
  // CHECK: plan.launch @embed(%[[T]], %[[W]], %[[X]]) items <rows, tile = 1, times = 1> note "embeddings"
  %tokens = plan.table tokens
  %x = plan.arena bytes 256 offset 0
  %w = plan.weight @embeddings
  plan.launch @embed(%tokens, %w, %x) items #tile.items<rows, tile = 1, times = 1>
      note "embeddings"
}

// Rows need not be a multiple of the chunk in decode; the arena is absent before
// plan-assign-arena.
// CHECK-LABEL: plan.entry @prefill_48 kind prefill rows 48 chunk 24 {
plan.entry @prefill_48 kind prefill rows 48 chunk 24 {
}
