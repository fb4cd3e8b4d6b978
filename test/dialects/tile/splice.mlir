// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @splice
func.func @splice(%ring: !tile.view<?x48x2x64xf32, [9216, 128, 64, 1]>, %x: !tile.view<?x2x64xf32, [128, 64, 1]>,
                  %slot: index, %r: index, %h: index, %row: index, %head: index, %end: index) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.splice %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] sizes [1, 16, 1, 64], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] sizes [16, 1, 64] rows(%{{.*}}, %{{.*}}) : <?x48x2x64xf32, [9216, 128, 64, 1]>, <?x2x64xf32, [128, 64, 1]> -> <16x64xf32, operand>
  %k = tile.splice %ring[%slot, %r, %h, %c0] sizes [1, 16, 1, 64],
      %x[%row, %h, %c0] sizes [16, 1, 64] rows(%head, %end)
      : !tile.view<?x48x2x64xf32, [9216, 128, 64, 1]>,
        !tile.view<?x2x64xf32, [128, 64, 1]> -> !tile.tile<16x64xf32, operand>
  return
}
