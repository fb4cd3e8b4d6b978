// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @wgdot1_registers(%a: i32, %b: i64, %c: f32) {
  // expected-error @+1 {{expects 4 registers of A, and as many results as accumulators, unless there are none, a multiple of 4 up to 128, but got 2, 4 and 4}}
  %y:4 = tile.nv.warp_group_dot bf16 (%a, %a), %b into (%c, %c, %c, %c) : f32, f32, f32, f32
  return
}

// -----

func.func @wgdot1_columns(%a: i32, %b: i64, %c: f32) {
  // expected-error @+1 {{expects 4 registers of A, and as many results as accumulators, unless there are none, a multiple of 4 up to 128, but got 4, 2 and 2}}
  %y:2 = tile.nv.warp_group_dot bf16 (%a, %a, %a, %a), %b into (%c, %c) : f32, f32
  return
}

// -----

func.func @wgwait1(%c: f32) {
  // expected-error @+1 {{expects as many results as operands, but got 1 and 2}}
  %y = tile.nv.warp_group_wait %c, %c : f32
  return
}

// -----

func.func @wgdot2(%a: i32, %b: i64, %c: f32) {
  // expected-error @+1 {{expects a product of bf16 or f16, but got 'tf32'}}
  %y:4 = tile.nv.warp_group_dot tf32 (%a, %a, %a, %a), %b into (%c, %c, %c, %c) : f32, f32, f32, f32
  return
}

// -----

func.func @wgfence1(%a: i32, %c: f32) {
  // expected-error @+1 {{expects as many results as operands, but got 1 and 1 for 1 and 2}}
  %x, %y = tile.nv.warp_group_fence (%a), (%c, %c) : (i32), (f32)
  return
}
