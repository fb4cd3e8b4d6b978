// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The example of plan.launch; its kernel may be gone, lowered to code.

// CHECK-LABEL: plan.entry @launches
plan.entry @launches kind decode rows 1 chunk 1 {
  %x = plan.arena bytes 64
  %w = plan.weight @w
  %y = plan.arena bytes 64
  // CHECK: plan.launch @dense_0(%{{.*}}, %{{.*}}, %{{.*}}) items <one, tile = 1, times = 5> note "layers.0.in_proj" flops 480
  plan.launch @dense_0(%x, %w, %y) items #tile.items<one, tile = 1, times = 5> note "layers.0.in_proj" flops 480
  // CHECK: plan.launch @copy(%{{.*}}) items <rows, tile = 1, times = 2> note ""{{$}}
  plan.launch @copy(%x) items <rows, tile = 1, times = 2> note ""
  // CHECK: plan.launch @copy(%{{.*}}) items <rows, tile = 1, times = 2> note "head" flops 7 only_for logits
  plan.launch @copy(%x) items <rows, tile = 1, times = 2> note "head" flops 7 only_for logits
  // CHECK: plan.launch @copy(%{{.*}}) items <rows, tile = 1, times = 2> note "head" only_for choices
  plan.launch @copy(%x) items <rows, tile = 1, times = 2> note "head" only_for choices
  // CHECK: plan.launch @dense_1(%{{.*}}, %{{.*}}, %{{.*}}) items <rows, tile = 64, times = 1> note "" product <outputs = 10, inner = 6, x = bf16 every 32, w = bf16 every 32, y = f32 every 16>
  plan.launch @dense_1(%x, %w, %y) items <rows, tile = 64, times = 1> note ""
      product #plan.product<outputs = 10, inner = 6, x = bf16 every 32, w = bf16 every 32, y = f32 every 16>
}

tile.kernel @copy(%item, %x: !tile.view<?x6xf32, [8, 1]>)
    items(#tile.items<rows, tile = 1, times = 2>) writes(0) {
}
