// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @dot
func.func @dot(%acc: !tile.tile<4x12xf32, accumulator>, %x: !tile.tile<4x768xf32, operand>,
               %w: !tile.tile<12x768xf32, operand>, %t: !tile.tile<768x4xf32, operand>, %u: !tile.tile<768x12xf32, operand>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_b : <4x12xf32, accumulator>, <4x768xf32, operand>, <12x768xf32, operand>
  %y = tile.dot %acc, %x, %w transpose_b : !tile.tile<4x12xf32, accumulator>,
      !tile.tile<4x768xf32, operand>, !tile.tile<12x768xf32, operand>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_a :
  %a = tile.dot %acc, %t, %u transpose_a : !tile.tile<4x12xf32, accumulator>,
      !tile.tile<768x4xf32, operand>, !tile.tile<768x12xf32, operand>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_a transpose_b :
  %b = tile.dot %acc, %t, %w transpose_a transpose_b : !tile.tile<4x12xf32, accumulator>,
      !tile.tile<768x4xf32, operand>, !tile.tile<12x768xf32, operand>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_b rounded to tf32 :
  %c = tile.dot %acc, %x, %w transpose_b rounded to tf32 : !tile.tile<4x12xf32, accumulator>,
      !tile.tile<4x768xf32, operand>, !tile.tile<12x768xf32, operand>
  return
}

!sums = !tile.tile<64x48xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, offset = 0, stride = 72>>
!columns = !tile.tile<48x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 16384, stride = 64>>
// CHECK-LABEL: func.func @named
func.func @named(%acc: !sums, %x: !rows, %w: !columns) {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_b rounded to bf16 by(#tile.wgmma) : <64x48xf32,
  %y = tile.dot %acc, %x, %w transpose_b rounded to bf16 by(#tile.wgmma) : !sums, !rows, !columns
  return
}
