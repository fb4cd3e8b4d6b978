// RUN: effc-opt %s --host-lower-kernels --canonicalize --cse | FileCheck %s
// RUN: sed 's/signed_quads/signed_matrices/' %s \
// RUN:   | effc-opt --host-lower-kernels --canonicalize --cse | FileCheck %s --check-prefix=MATRIX

// Products with panels on Arm: a vector of 8 lanes is two registers.
!q8 = !storage.block<"q8", elements = 32, bytes = 34, digits = [32],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
!iq4 = !storage.block<"iq4_nl", elements = 32, bytes = 18, digits = [2, 16],
  code = uint [4 at 16 [4, 8]] table [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
  scale = [f16 [16 at 0 [0, 0]]]>

module attributes {
    tile.target = #tile.target<host, digits = 3, code = "a", cpu = "generic",
                               triple = "aarch64-unknown-linux-gnu", byte_products = signed_quads, vector = 8, registers = 16,
                               step_rate = 22, dot_rate = 18, state_bytes = 32768>} {

// A block of 32 columns: 8 steps of 4 columns, 3 digits, 16 rows of the panel in 4
// registers. Codes of 8 bits stay signed, so that no bit of theirs is inverted and no
// sum of digits taken off. A load of digits serves four steps: 3 digits, 2 loads each.
// CHECK-LABEL: llvm.func @one_row(
// CHECK: scf.for
// CHECK-NOT: arith.xori
// CHECK-COUNT-96: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// CHECK-NOT: sdot
// CHECK-NOT: arith.subi
// CHECK: math.fma
// A single row goes by sdot there too.
// MATRIX-LABEL: llvm.func @one_row(
// MATRIX-COUNT-96: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// MATRIX-NOT: smmla
// MATRIX: llvm.func @two_rows(
tile.kernel @one_row(%item, %x: !tile.view<?x64x!storage.digits<3>, [64, 1]>,
                     %w: !tile.view<16x64x!storage.panel<!q8>, [64, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %zero = tile.splat %f : !tile.tile<1x16xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 64] : !tile.view<?x64x!storage.digits<3>, [64, 1]> -> !tile.tile<1x64xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64x!storage.panel<!q8>, [64, 1]> -> !tile.tile<16x64xf32, operand>
  %s = tile.dot %zero, %a, %b transpose_b rounded to !storage.digits<3> : !tile.tile<1x16xf32, accumulator>, !tile.tile<1x64xf32, operand>, !tile.tile<16x64xf32, operand>
  tile.store %s, %y[%item, %c0] sizes [1, 16] : !tile.tile<1x16xf32, accumulator>, !tile.view<?x16xf32, [16, 1]>
}

// Two rows: one after the other without matrices. With them six digits are three pairs,
// a product takes 8 columns of 2 rows of the panel, and the second half of the panel
// follows the first one in a loop of its own: 4 x 4 x 3 products each.
// CHECK-LABEL: llvm.func @two_rows(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-96: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// CHECK-NOT: sdot
// CHECK: llvm.func @looked_up(
// MATRIX: scf.for
// MATRIX-COUNT-48: llvm.call_intrinsic "llvm.aarch64.neon.smmla.v4i32.v16i8"
// MATRIX-NOT: smmla
// MATRIX: scf.for
// MATRIX-COUNT-48: llvm.call_intrinsic "llvm.aarch64.neon.smmla.v4i32.v16i8"
// MATRIX-NOT: smmla
// MATRIX-NOT: sdot
// MATRIX: llvm.func @looked_up(
tile.kernel @two_rows(%item, %x: !tile.view<?x64x!storage.digits<3>, [64, 1]>,
                      %w: !tile.view<16x64x!storage.panel<!q8>, [64, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 2, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %f = arith.constant 0.0 : f32
  %row = arith.muli %item, %c2 : index
  %zero = tile.splat %f : !tile.tile<2x16xf32, accumulator>
  %a = tile.load %x[%row, %c0] sizes [2, 64] : !tile.view<?x64x!storage.digits<3>, [64, 1]> -> !tile.tile<2x64xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64x!storage.panel<!q8>, [64, 1]> -> !tile.tile<16x64xf32, operand>
  %s = tile.dot %zero, %a, %b transpose_b rounded to !storage.digits<3> : !tile.tile<2x16xf32, accumulator>, !tile.tile<2x64xf32, operand>, !tile.tile<16x64xf32, operand>
  tile.store %s, %y[%row, %c0] sizes [2, 16] : !tile.tile<2x16xf32, accumulator>, !tile.view<?x16xf32, [16, 1]>
}

// A table's entries are the signed bytes that products take: no offset. 8 steps, 4
// registers.
// CHECK-COUNT-32: llvm.call_intrinsic "llvm.aarch64.neon.tbl1.v16i8"
// CHECK-NOT: arith.subi
// CHECK: math.fma
tile.kernel @looked_up(%item, %x: !tile.view<?x64x!storage.digits<3>, [64, 1]>,
                       %w: !tile.view<16x64x!storage.panel<!iq4>, [64, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %zero = tile.splat %f : !tile.tile<1x16xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 64] : !tile.view<?x64x!storage.digits<3>, [64, 1]> -> !tile.tile<1x64xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64x!storage.panel<!iq4>, [64, 1]> -> !tile.tile<16x64xf32, operand>
  %s = tile.dot %zero, %a, %b transpose_b rounded to !storage.digits<3> : !tile.tile<1x16xf32, accumulator>, !tile.tile<1x64xf32, operand>, !tile.tile<16x64xf32, operand>
  tile.store %s, %y[%item, %c0] sizes [1, 16] : !tile.tile<1x16xf32, accumulator>, !tile.view<?x16xf32, [16, 1]>
}
}
