// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The ops that name a place in memory, each with its example, and their type.

// CHECK: func.func private @type(!plan.memory)
func.func private @type(!plan.memory)

// CHECK-LABEL: plan.entry @places
plan.entry @places kind decode rows 1 chunk 1 {
  // CHECK: plan.table tokens
  %t = plan.table tokens
  // CHECK: plan.table row_slots
  %r = plan.table row_slots
  // CHECK: plan.table row_positions
  %p = plan.table row_positions
  // CHECK: plan.table segments
  %g = plan.table segments
  // CHECK: plan.table output_rows
  %o = plan.table output_rows
  // CHECK: plan.table draws
  %d = plan.table draws
  // CHECK: %[[X:.*]] = plan.arena bytes 4096 offset 0
  %x = plan.arena bytes 4096 offset 0
  // CHECK: plan.arena bytes 100{{$}}
  %y = plan.arena bytes 100
  // CHECK: plan.weight @layers.0.in_proj
  %w = plan.weight @layers.0.in_proj
  // CHECK: plan.state "layers.0.ssd"
  %s = plan.state "layers.0.ssd"
  // CHECK: plan.logits
  %l = plan.logits
  // CHECK: plan.choices
  %c = plan.choices
  // CHECK: plan.offset %[[X]] by 1024
  %z = plan.offset %x by 1024
}
