// RUN: effc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects the item, an index, as its first block argument}}
"tile.kernel"() <{sym_name = "kernel1_no_item", items = #tile.items<one, tile = 1, times = 1>, writes = array<i64>}> ({
^bb0(%item: i64):
}) : () -> ()

// -----

// expected-error @+1 {{expects operand 1 to be a view or the segment table, but got 'f32'}}
tile.kernel @kernel2(%item, %s: !tile.segments, %x: f32) items(#tile.items<one, tile = 1, times = 1>) writes() {
}

// -----

// expected-error @+1 {{expects 'writes' to name operands 0..0, but got 1}}
tile.kernel @kernel3_writes(%item, %s: !tile.segments) items(#tile.items<one, tile = 1, times = 1>) writes(1) {
}

// -----

// expected-error @+1 {{expects 'streamed' to name operands 0..0, but got -1}}
tile.kernel @kernel3_streamed(%item, %s: !tile.segments) items(#tile.items<one, tile = 1, times = 1>) writes() streamed(-1) {
}

// -----

// expected-error @+1 {{expects 'aligned' to name operands 0..0, but got 2}}
tile.kernel @kernel3_aligned(%item, %s: !tile.segments) items(#tile.items<one, tile = 1, times = 1>) writes() aligned(2) {
}

// -----

tile.kernel @kernel4_layout_without_schedule(%item) items(#tile.items<one, tile = 1, times = 1>) writes() {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expects tiles without a layout in a kernel without a schedule}}
  %a = tile.splat %zero : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
}

// -----

tile.kernel @kernel4_other_threads(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<threads = 64, shared_bytes = 0>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expects tiles with a layout over 64 threads in this scheduled kernel}}
  %a = tile.splat %zero : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
}
