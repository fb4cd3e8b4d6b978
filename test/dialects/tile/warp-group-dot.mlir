// RUN: effc-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @product
func.func @product(%a0: i32, %a1: i32, %a2: i32, %a3: i32, %b: i64, %c0: f32, %c1: f32, %c2: f32,
                   %c3: f32) -> (f32, f32) {
  // CHECK: %[[Y:.*]]:4 = tile.nv.warp_group_dot bf16(%arg0, %arg1, %arg2, %arg3), %arg4 into(%arg5, %arg6, %arg7, %arg8) : f32, f32, f32, f32
  %y:4 = tile.nv.warp_group_dot bf16 (%a0, %a1, %a2, %a3), %b into (%c0, %c1, %c2, %c3)
      : f32, f32, f32, f32
  // CHECK: tile.nv.warp_group_wait %[[Y]]#0, %[[Y]]#1, %[[Y]]#2, %[[Y]]#3 : f32, f32, f32, f32
  %z:4 = tile.nv.warp_group_wait %y#0, %y#1, %y#2, %y#3 : f32, f32, f32, f32
  // CHECK: %[[X:.*]]:4, %[[F:.*]]:2 = tile.nv.warp_group_fence(%arg0, %arg1, %arg2, %arg3), (%arg5, %arg6) : (i32, i32, i32, i32), (f32, f32)
  %x:4, %f:2 = tile.nv.warp_group_fence (%a0, %a1, %a2, %a3), (%c0, %c1)
      : (i32, i32, i32, i32), (f32, f32)
  // Without sums before, and columns side by side.
  // CHECK: tile.nv.warp_group_dot f16(%arg0, %arg1, %arg2, %arg3), %arg4 across : f32, f32, f32, f32
  %w:4 = tile.nv.warp_group_dot f16 (%a0, %a1, %a2, %a3), %b across : f32, f32, f32, f32
  return %z#0, %w#0 : f32, f32
}
