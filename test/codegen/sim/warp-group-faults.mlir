// RUN: effc-opt %s --split-input-file --sim-call-simulator --verify-diagnostics

// Sums that are under way: nothing but a wait gives them.
llvm.func @read_too_early(%a: i32, %b: i64, %c: f32, %to: !llvm.ptr<1>) attributes {nvvm.kernel} {
  // expected-error @+1 {{is read before it has been waited for}}
  %y:4 = tile.nv.warp_group_dot bf16 (%a, %a, %a, %a), %b into (%c, %c, %c, %c) : f32, f32, f32, f32
  llvm.store %y#2, %to : f32, !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @waits_for_nothing(%c: f32, %to: !llvm.ptr<1>) attributes {nvvm.kernel} {
  // expected-error @+1 {{the simulator waits for sums that are under way, in the block that began them}}
  %z = tile.nv.warp_group_wait %c : f32
  llvm.store %z, %to : f32, !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @part_of_the_sums(%a: i32, %b: i64, %c: f32) attributes {nvvm.kernel} {
  %y:4 = tile.nv.warp_group_dot bf16 (%a, %a, %a, %a), %b into (%c, %c, %c, %c) : f32, f32, f32, f32
  // expected-error @+1 {{the simulator adds to sums that are under way only all together}}
  %z:4 = tile.nv.warp_group_dot bf16 (%a, %a, %a, %a), %b into (%y#1, %y#0, %y#2, %y#3) : f32, f32, f32, f32
  llvm.return
}
