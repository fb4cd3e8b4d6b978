// RUN: effc-opt %s --split-input-file --verify-diagnostics

plan.entry @launch1_operands kind decode rows 1 chunk 1 {
  %x = plan.arena bytes 64
  // expected-error @+1 {{expects 1 operands for kernel @copy, but got 2}}
  plan.launch @copy(%x, %x) items <rows, tile = 1, times = 2> note ""
}
// expected-note @+1 {{the kernel is declared here}}
tile.kernel @copy(%item, %x: !tile.view<?x6xf32, [8, 1]>)
    items(#tile.items<rows, tile = 1, times = 2>) writes(0) {
}

// -----

plan.entry @launch1_items kind decode rows 1 chunk 1 {
  %x = plan.arena bytes 64
  // expected-error @+1 {{expects the items of its kernel, #tile.items<rows, tile = 1, times = 2>, but got #tile.items<rows, tile = 2, times = 1>}}
  plan.launch @copy(%x) items <rows, tile = 2, times = 1> note ""
}
tile.kernel @copy(%item, %x: !tile.view<?x6xf32, [8, 1]>)
    items(#tile.items<rows, tile = 1, times = 2>) writes(0) {
}

// -----

plan.entry @launch2_no_flops kind decode rows 1 chunk 1 {
  %x = plan.arena bytes 64
  // expected-error @+1 {{expects positive 'flops', but got 0}}
  plan.launch @gone(%x) items <rows, tile = 1, times = 2> note "" flops 0
}

// -----

plan.entry @launch3_two_operands kind decode rows 1 chunk 1 {
  %x = plan.arena bytes 64
  // expected-error @+1 {{expects the three operands of a 'product', but got 2}}
  plan.launch @gone(%x, %x) items <rows, tile = 1, times = 2> note ""
      product <outputs = 10, inner = 6, x = bf16 every 32, w = bf16 every 32, y = f32 every 16>
}

// -----

// expected-error @+1 {{expects positive 'outputs' and 'inner', but got 10 and 0}}
#product1_nothing = #plan.product<outputs = 10, inner = 0, x = bf16 every 32, w = bf16 every 32, y = f32 every 16>

// -----

// expected-error @+1 {{expects the rows of y every 10 elements or more, but got 8}}
#product1_pitch = #plan.product<outputs = 10, inner = 6, x = bf16 every 32, w = bf16 every 32, y = f32 every 8>

// -----

// expected-error @+1 {{expects w of f32, bf16 or f16, but got 'i32'}}
#product2_type = #plan.product<outputs = 10, inner = 6, x = bf16 every 32, w = i32 every 32, y = f32 every 16>
