// RUN: effc-opt %s --host-lower-kernels --canonicalize --cse | FileCheck %s
// RUN: sed 's/code = "a", cpu = "a"/code = "a", cpu = "a", byte_products = quads/' %s \
// RUN:   | effc-opt --host-lower-kernels --canonicalize --cse | FileCheck %s --check-prefix=QUADS

!q4_0 = !storage.block<"q4_0", elements = 32, bytes = 18, digits = [2, 16],
  code = uint [4 at 16 [4, 8]] bias -8, scale = [f16 [16 at 0 [0, 0]]]>
!w = !tile.view<48x64x!storage.panel<!q4_0>, [64, 1]>

module attributes {
    tile.target = #tile.target<host, digits = 3, code = "a", cpu = "a", vector = 16, registers = 32,
                               step_rate = 22, dot_rate = 18, state_bytes = 32768>} {

// One row that lies as digits and a panel: two blocks of 32 columns in a loop. Of each
// the scales of 16 rows, and 8 steps of 4 columns: codes of half a byte by a shift and
// a mask, and products with three digits each, in pairs of bytes or four at once.
// CHECK-LABEL: llvm.func @stored(
// CHECK-SAME: attributes {effc.stack_bytes = 64 : i64}
// CHECK: scf.for
// CHECK-COUNT-24: llvm.call_intrinsic "llvm.x86.avx512.pmaddubs.w.512"
// CHECK-NOT: pmaddubs
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// CHECK-NOT: pmaddw
// CHECK: math.fma
// QUADS-LABEL: llvm.func @stored(
// QUADS-COUNT-24: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// QUADS-NOT: vpdpbusd
// QUADS-LABEL: llvm.func @rows(
tile.kernel @stored(%item, %x: !tile.view<?x64x!storage.digits<3>, [64, 1]>, %w: !w,
                    %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %zero = tile.splat %f : !tile.tile<1x16xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 64] : !tile.view<?x64x!storage.digits<3>, [64, 1]> -> !tile.tile<1x64xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [16, 64] : !w -> !tile.tile<16x64xf32, operand>
  %s = tile.dot %zero, %a, %b transpose_b rounded to !storage.digits<3> : !tile.tile<1x16xf32, accumulator>, !tile.tile<1x64xf32, operand>, !tile.tile<16x64xf32, operand>
  tile.store %s, %y[%item, %c0] sizes [1, 16] : !tile.tile<1x16xf32, accumulator>, !tile.view<?x16xf32, [16, 1]>
}

// Rows of f32 are made digits first, 2 x 144 bytes on the stack.
// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME: attributes {effc.stack_bytes = 384 : i64}
// CHECK: vector.reduction <maxsi>
// CHECK: math.roundeven
tile.kernel @rows(%item, %x: !tile.view<?x64xf32, [64, 1]>, %w: !w,
                  %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %zero = tile.splat %f : !tile.tile<1x16xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 64] : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<1x64xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [16, 64] : !w -> !tile.tile<16x64xf32, operand>
  %s = tile.dot %zero, %a, %b transpose_b rounded to !storage.digits<3> : !tile.tile<1x16xf32, accumulator>, !tile.tile<1x64xf32, operand>, !tile.tile<16x64xf32, operand>
  tile.store %s, %y[%item, %c0] sizes [1, 16] : !tile.tile<1x16xf32, accumulator>, !tile.view<?x16xf32, [16, 1]>
}

// Whole blocks of a row are stored as digits.
// CHECK-LABEL: llvm.func @made(
// CHECK-COUNT-2: math.roundeven
tile.kernel @made(%item, %x: !tile.view<?x32xf32, [32, 1]>, %y: !tile.view<?x32x!storage.digits<1>, [32, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 32] : !tile.view<?x32xf32, [32, 1]> -> !tile.tile<32xf32, row>
  tile.store %a, %y[%item, %c0] sizes [1, 32] : !tile.tile<32xf32, row>, !tile.view<?x32x!storage.digits<1>, [32, 1]>
}
}
