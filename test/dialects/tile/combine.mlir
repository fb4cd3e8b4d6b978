// RUN: effc-opt %s --split-input-file --verify-diagnostics --verify-roundtrip

// The example of the op, in a scheduled kernel: 128 threads, 16 side by side along
// a row with 4 elements each.
tile.kernel @example(%item, %s: !tile.view<?x128x64xf32, [8192, 64, 1]>,
                     %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1)
    schedule(#tile.schedule<threads = 128, shared_bytes = 1024>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %s[%item, %c0, %c0] sizes [1, 128, 64]
      : !tile.view<?x128x64xf32, [8192, 64, 1]>
      -> !tile.tile<128x64xf32, accumulator, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  %p = tile.reduce add %a over rows
      : !tile.tile<128x64xf32, accumulator, #tile.lin<threads = 128, lanes = 16, vector = 4>>
      -> !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  %o = tile.combine add %p offset 0
      : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  tile.store %o, %y[%item, %c0] sizes [1, 64]
      : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>,
        !tile.view<?x64xf32, [64, 1]>
}

// -----

func.func @combine_c1_column(
    %p: !tile.tile<64xf32, column, #tile.lin<threads = 128, lanes = 16, vector = 4>>) {
  // expected-error @+1 {{expects a row with a layout, but got '!tile.tile<64xf32, column}}
  %o = tile.combine add %p offset 0
      : !tile.tile<64xf32, column, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  return
}

// -----

func.func @combine_c2_offset(
    %p: !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>) {
  // expected-error @+1 {{expects 'offset' to be a multiple of 16, but got 24}}
  %o = tile.combine add %p offset 24
      : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  return
}

// -----

// kernel_c4: a layout in a kernel that has no schedule.
tile.kernel @kernel_c4_layout_without_schedule(%item, %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expects tiles without a layout in a kernel without a schedule}}
  %a = tile.splat %zero
      : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
}

// -----

// kernel_c4: a schedule of 64 threads and a layout over 128.
tile.kernel @kernel_c4_other_threads(%item, %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0)
    schedule(#tile.schedule<threads = 64, shared_bytes = 0>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expects tiles with a layout over 64 threads in this scheduled kernel}}
  %a = tile.splat %zero
      : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
}
