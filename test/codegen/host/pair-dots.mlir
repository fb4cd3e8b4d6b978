// RUN: effc-opt %s --host-lower-kernels --canonicalize --cse | FileCheck %s
// RUN: sed 's/bf16_products = true, //' %s \
// RUN:   | effc-opt --host-lower-kernels --canonicalize --cse | FileCheck %s --check-prefix=WITHOUT

module attributes {
    tile.target = #tile.target<host, rounded_to = bf16, code = "a", cpu = "a", bf16_products = true, vector = 16,
                               registers = 32, step_rate = 22, dot_rate = 18, state_bytes = 32768>} {

// A row of f32 by three rows of bf16, 40 terms: 32 are a register of pairs, and 8 have
// zeros behind them. Terms of f32 are rounded on the way. Levels without the instruction
// multiply the row as it is.
// CHECK-LABEL: llvm.func @wide(
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK: llvm.intr.masked.load
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT: dpbf16ps
// WITHOUT-LABEL: llvm.func @wide(
// WITHOUT-NOT: bf16ps
// WITHOUT: vector.fma
// WITHOUT-LABEL: llvm.func @narrow(
tile.kernel @wide(%item, %x: !tile.view<?x40xf32, [48, 1]>, %w: !tile.view<3x40xbf16, [40, 1]>,
                  %y: !tile.view<?x3xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %zero = tile.splat %f : !tile.tile<1x3xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 40] : !tile.view<?x40xf32, [48, 1]> -> !tile.tile<1x40xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [3, 40] : !tile.view<3x40xbf16, [40, 1]> -> !tile.tile<3x40xf32, operand>
  %s = tile.dot %zero, %a, %b transpose_b rounded to bf16 : !tile.tile<1x3xf32, accumulator>, !tile.tile<1x40xf32, operand>, !tile.tile<3x40xf32, operand>
  tile.store %s, %y[%item, %c0] sizes [1, 3] : !tile.tile<1x3xf32, accumulator>, !tile.view<?x3xf32, [16, 1]>
}

// Rows that were stored as bf16 are taken as they are; a matrix of f32 is multiplied in
// f32.
// CHECK-LABEL: llvm.func @narrow(
// CHECK-NOT: cvtne2ps
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-LABEL: llvm.func @other(
// CHECK-NOT: dpbf16ps
// CHECK: vector.fma
tile.kernel @narrow(%item, %x: !tile.view<?x32xbf16, [32, 1]>, %w: !tile.view<3x32xbf16, [32, 1]>,
                    %y: !tile.view<?x3xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %zero = tile.splat %f : !tile.tile<1x3xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 32] : !tile.view<?x32xbf16, [32, 1]> -> !tile.tile<1x32xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [3, 32] : !tile.view<3x32xbf16, [32, 1]> -> !tile.tile<3x32xf32, operand>
  %s = tile.dot %zero, %a, %b transpose_b rounded to bf16 : !tile.tile<1x3xf32, accumulator>, !tile.tile<1x32xf32, operand>, !tile.tile<3x32xf32, operand>
  tile.store %s, %y[%item, %c0] sizes [1, 3] : !tile.tile<1x3xf32, accumulator>, !tile.view<?x3xf32, [16, 1]>
}
tile.kernel @other(%item, %x: !tile.view<?x32xbf16, [32, 1]>, %w: !tile.view<3x32xf32, [32, 1]>,
                   %y: !tile.view<?x3xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %zero = tile.splat %f : !tile.tile<1x3xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 32] : !tile.view<?x32xbf16, [32, 1]> -> !tile.tile<1x32xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [3, 32] : !tile.view<3x32xf32, [32, 1]> -> !tile.tile<3x32xf32, operand>
  %s = tile.dot %zero, %a, %b transpose_b rounded to bf16 : !tile.tile<1x3xf32, accumulator>, !tile.tile<1x32xf32, operand>, !tile.tile<3x32xf32, operand>
  tile.store %s, %y[%item, %c0] sizes [1, 3] : !tile.tile<1x3xf32, accumulator>, !tile.view<?x3xf32, [16, 1]>
}
}
