// RUN: effc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expects the item, an index, as its first block argument}}
"tile.kernel"() <{sym_name = "tile_kernel1_no_item", items = #tile.items<one, tile = 1, times = 1>, writes = array<i64>}> ({
^bb0(%item: i64):
}) : () -> ()

// -----

// expected-error @+1 {{expects operand 1 to be a view or the segment table, but got 'f32'}}
tile.kernel @tile_kernel2(%item, %s: !tile.segments, %x: f32) items(#tile.items<one, tile = 1, times = 1>) writes() {
}

// -----

// expected-error @+1 {{expects 'writes' to name operands 0..0, but got 1}}
tile.kernel @tile_kernel3_writes(%item, %s: !tile.segments) items(#tile.items<one, tile = 1, times = 1>) writes(1) {
}

// -----

// expected-error @+1 {{expects 'streamed' to name operands 0..0, but got -1}}
tile.kernel @tile_kernel3_streamed(%item, %s: !tile.segments) items(#tile.items<one, tile = 1, times = 1>) writes() streamed(-1) {
}

// -----

// expected-error @+1 {{expects 'aligned' to name operands 0..0, but got 2}}
tile.kernel @tile_kernel3_aligned(%item, %s: !tile.segments) items(#tile.items<one, tile = 1, times = 1>) writes() aligned(2) {
}

// -----

tile.kernel @tile_kernel4_layout_without_schedule(%item) items(#tile.items<one, tile = 1, times = 1>) writes() {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expects tiles without a layout in a kernel without a schedule}}
  %a = tile.splat %zero : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
}

// -----

tile.kernel @tile_kernel4_other_threads(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<threads = 64, shared_bytes = 0>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expects tiles with a layout over 64 threads in this scheduled kernel}}
  %a = tile.splat %zero : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
}

// -----

tile.kernel @tile_kernel4_layout_before_its_time(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = threads, threads = 128>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expects tiles without a layout in a kernel whose layouts are not decided}}
  %a = tile.splat %zero : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
}

// -----

tile.kernel @tile_kernel4_no_layout(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = layouts, threads = 64>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expects tiles with a layout over 64 threads in this scheduled kernel, but got '!tile.tile<48xf32, row>'}}
  %a = tile.splat %zero : !tile.tile<48xf32, row>
}

// -----

tile.kernel @tile_kernel5_offset_before_its_time(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = layouts, threads = 64>) {
  // expected-error @+1 {{expects tiles in shared memory without an offset before their places are decided}}
  %r = tile.ring : !tile.tile<48x32xf32, operand, #tile.shared<threads = 64, offset = 0, stride = 40, slots = 3>>
}

// -----

tile.kernel @tile_kernel5_no_offset(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<threads = 64, shared_bytes = 23040>) {
  // expected-error @+1 {{expects tiles in shared memory with an offset in this scheduled kernel}}
  %r = tile.ring : !tile.tile<48x32xf32, operand, #tile.shared<threads = 64, stride = 40, slots = 3>>
}

// -----

// Also before the last step.
tile.kernel @tile_reduce3_of_decided_places(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = places, threads = 64, shared_bytes = 32>) {
  %zero = arith.constant 0.0 : f32
  %a = tile.splat %zero : !tile.tile<48xf32, row, #tile.lin<threads = 64, lanes = 16, vector = 4>>
  // expected-error @+1 {{expects 'scratch' to be a multiple of 16, at least 0, for a tile in registers}}
  %r = tile.reduce add %a over columns : !tile.tile<48xf32, row, #tile.lin<threads = 64, lanes = 16, vector = 4>> -> f32
}
