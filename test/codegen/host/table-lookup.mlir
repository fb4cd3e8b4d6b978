// RUN: effc-opt %s --host-lower-kernels --canonicalize --cse | FileCheck %s
// RUN: sed 's/vector = 16, registers = 32/vector = 8, registers = 16/' %s \
// RUN:   | effc-opt --host-lower-kernels --canonicalize --cse | FileCheck %s --check-prefix=HALVES
// RUN: sed 's/byte_products = quads/byte_products = signed_quads/' %s \
// RUN:   | effc-opt --host-lower-kernels --canonicalize --cse | FileCheck %s --check-prefix=WITHOUT

!nibbles = !storage.block<"nibbles", elements = 32, bytes = 20, digits = [2, 16],
  code = uint [4 at 32 [4, 8]] table [-300, -200, -100, -50, -20, -10, -5, 0, 5, 10, 20, 50, 100, 200, 300, 400],
  scale = [f32 [32 at 0 [0, 0]]]>

module attributes {
    tile.target = #tile.target<host, code = "a", cpu = "a", byte_products = quads, vector = 16, registers = 32,
                               step_rate = 22, dot_rate = 18, state_bytes = 32768>} {

// A table of 16 entries that no byte holds: one register, or two halves of which a code's
// highest bit chooses. Arm has no such instruction, and chooses bit by bit.
// CHECK-LABEL: llvm.func @product(
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"({{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// CHECK-NOT: permvar
// HALVES-LABEL: llvm.func @product(
// HALVES: llvm.call_intrinsic "llvm.x86.avx2.permps"({{.*}}) : (vector<8xf32>, vector<8xi32>) -> vector<8xf32>
// HALVES: llvm.call_intrinsic "llvm.x86.avx2.permps"
// HALVES: arith.select
// WITHOUT-LABEL: llvm.func @product(
// WITHOUT-NOT: llvm.x86
// WITHOUT: arith.select
tile.kernel @product(%item, %x: !tile.view<?x32xf32, [32, 1]>, %w: !tile.view<3x32x!nibbles, [32, 1]>,
                     %y: !tile.view<?x3xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %zero = tile.splat %f : !tile.tile<1x3xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 32] : !tile.view<?x32xf32, [32, 1]> -> !tile.tile<1x32xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [3, 32] : !tile.view<3x32x!nibbles, [32, 1]> -> !tile.tile<3x32xf32, operand>
  %s = tile.dot %zero, %a, %b transpose_b : !tile.tile<1x3xf32, accumulator>, !tile.tile<1x32xf32, operand>, !tile.tile<3x32xf32, operand>
  tile.store %s, %y[%item, %c0] sizes [1, 3] : !tile.tile<1x3xf32, accumulator>, !tile.view<?x3xf32, [16, 1]>
}
}
