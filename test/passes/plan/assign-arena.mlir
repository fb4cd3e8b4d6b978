// RUN: effc-opt %s --pass-pipeline="builtin.module(plan.entry(plan-assign-arena))" | FileCheck %s
// RUN: effc-opt %s --pass-pipeline="builtin.module(plan.entry(plan-assign-arena,plan-assign-arena))" | FileCheck %s

// Launches 0 to 3. %a lives in 0..1, %b in 1..2, %c and %d in 2..3. %a takes bytes
// 0..99; %b starts past it, at 128, and ends at 328. %c fits in where %a was, below
// %b. %d, 100 bytes, would overlap %c at 0 and %b at 64, so it starts past %b: at 384,
// the next multiple of 64. It ends at 484, the arena at 512.

// CHECK-LABEL: plan.entry @reuse kind decode rows 1 chunk 1 arena 512
plan.entry @reuse kind decode rows 1 chunk 1 {
  // CHECK-NEXT: plan.arena bytes 100 offset 0
  // CHECK-NEXT: plan.arena bytes 200 offset 128
  // CHECK-NEXT: plan.arena bytes 64 offset 0
  // CHECK-NEXT: plan.arena bytes 100 offset 384
  %a = plan.arena bytes 100
  %b = plan.arena bytes 200
  %c = plan.arena bytes 64
  %d = plan.arena bytes 100
  plan.launch @k(%a) items <one, tile = 1, times = 1> note "0"
  plan.launch @k(%a, %b) items <one, tile = 1, times = 1> note "1"
  plan.launch @k(%b, %c, %d) items <one, tile = 1, times = 1> note "2"
  plan.launch @k(%c, %d) items <one, tile = 1, times = 1> note "3"
}

// A buffer lives as long as what reads it through offsets: %a until launch 2, so
// that neither %b nor %c lies where it is.

// CHECK-LABEL: plan.entry @through_offsets kind prefill rows 16 chunk 8 arena 192
plan.entry @through_offsets kind prefill rows 16 chunk 8 {
  // CHECK: plan.arena bytes 64 offset 0
  // CHECK: plan.arena bytes 64 offset 64
  // CHECK: plan.arena bytes 64 offset 128
  %a = plan.arena bytes 64
  %half = plan.offset %a by 32
  %quarter = plan.offset %half by 16
  %b = plan.arena bytes 64
  %c = plan.arena bytes 64
  plan.launch @k(%a, %b) items <one, tile = 1, times = 1> note "0"
  plan.launch @k(%b, %c) items <one, tile = 1, times = 1> note "1"
  plan.launch @k(%c, %quarter) items <one, tile = 1, times = 1> note "2"
}

// CHECK-LABEL: plan.entry @no_buffers kind decode rows 1 chunk 1 arena 0
plan.entry @no_buffers kind decode rows 1 chunk 1 {
  %l = plan.logits
  plan.launch @k(%l) items <one, tile = 1, times = 1> note "0"
}
