// RUN: effc-opt %s --nvptx-lower-kernels --split-input-file --verify-diagnostics

// A product is by a unit that the target has, also where the text names none.
!sums = !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
!columns = !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, offset = 0, stride = 72>>
module attributes {tile.target = #tile.target<nvptx, units = [#tile.wgmma], block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
tile.kernel @product(%item, %w: !tile.view<16x64xbf16, [64, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = barriers, threads = 128, shared_bytes = 2304>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %acc = tile.splat %f0 : !sums
  %a = tile.splat %f0 : !rows
  %b = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64xbf16, [64, 1]> -> !columns
  // expected-error @+2 {{'tile.dot' op expects a product unit of the target (#tile.wgmma), but got #tile.mma_sync}}
  // expected-note @+1 {{a product that names no unit, by 'by(...)', is #tile.mma_sync's}}
  %d = tile.dot %acc, %a, %b transpose_b : !sums, !rows, !columns
}
}

// -----

// Where no units are listed there is that of single warps.
!sums = !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
!columns = !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
module attributes {tile.target = #tile.target<nvptx, overlaps = true, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
tile.kernel @product(%item, %w: !tile.view<16x64xbf16, [64, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = barriers, threads = 128, shared_bytes = 2304>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %acc = tile.splat %f0 : !sums
  %a = tile.splat %f0 : !rows
  %b = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64xbf16, [64, 1]> -> !columns
  // expected-error @+2 {{'tile.dot' op expects a product unit of the target (#tile.mma_sync), but got #tile.wgmma}}
  // expected-note @+1 {{a module whose 'tile.target' lists no 'units', or that has none, has #tile.mma_sync alone}}
  %d = tile.dot %acc, %a, %b transpose_b by(#tile.wgmma) : !sums, !rows, !columns
}
}

// -----

!sums = !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
!columns = !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
tile.kernel @product(%item, %w: !tile.view<16x64xbf16, [64, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = barriers, threads = 128, shared_bytes = 2304>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %acc = tile.splat %f0 : !sums
  %a = tile.splat %f0 : !rows
  %b = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64xbf16, [64, 1]> -> !columns
  // expected-error @+2 {{'tile.dot' op expects a product unit of the target (#tile.mma_sync), but got #tile.wgmma}}
  // expected-note @+1 {{a module whose 'tile.target' lists no 'units', or that has none, has #tile.mma_sync alone}}
  %d = tile.dot %acc, %a, %b transpose_b by(#tile.wgmma) : !sums, !rows, !columns
}

// -----

// A unit that the target has, but may not use.
!sums = !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
!columns = !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
module attributes {tile.target = #tile.target<nvptx, bit_stable = true, units = [#tile.wgmma, #tile.mma_sync], block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
tile.kernel @product(%item, %w: !tile.view<16x64xbf16, [64, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = barriers, threads = 128, shared_bytes = 2304>) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %acc = tile.splat %f0 : !sums
  %a = tile.splat %f0 : !rows
  %b = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64xbf16, [64, 1]> -> !columns
  // expected-error @+2 {{'tile.dot' op expects a product unit of the target (#tile.mma_sync), but got #tile.wgmma}}
  // expected-note @+1 {{the target is 'bit_stable', and sums of this unit depend on the rows beside}}
  %d = tile.dot %acc, %a, %b transpose_b by(#tile.wgmma) : !sums, !rows, !columns
}
}
