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
