// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @pipeline
func.func @pipeline(%x: !tile.view<?x768xf32, [768, 1]>, %w: !tile.view<60x768xf32, [768, 1]>, %r: index, %n: index,
                    %zero: !tile.tile<4x12xf32, accumulator>) {
  // CHECK: tile.pipeline stages 3 extent 768 step 64 iter(%{{.*}}) : !tile.tile<4x12xf32, accumulator> load {
  // CHECK-NEXT: ^bb0(%{{.*}}: index):
  // CHECK: tile.yield %{{.*}}, %{{.*}} : !tile.tile<4x64xf32, operand>, !tile.tile<12x64xf32, operand>
  // CHECK-NEXT: } compute {
  // CHECK: tile.yield %{{.*}} : !tile.tile<4x12xf32, accumulator>
  %y = tile.pipeline stages 3 extent 768 step 64 iter(%zero)
      : !tile.tile<4x12xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%r, %k] sizes [4, 64]
        : !tile.view<?x768xf32, [768, 1]> -> !tile.tile<4x64xf32, operand>
    %b = tile.load %w[%n, %k] sizes [12, 64]
        : !tile.view<60x768xf32, [768, 1]> -> !tile.tile<12x64xf32, operand>
    tile.yield %a, %b : !tile.tile<4x64xf32, operand>, !tile.tile<12x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<4x64xf32, operand>, %b: !tile.tile<12x64xf32, operand>,
       %acc: !tile.tile<4x12xf32, accumulator>):
    %d = tile.dot %acc, %a, %b transpose_b : !tile.tile<4x12xf32, accumulator>,
        !tile.tile<4x64xf32, operand>, !tile.tile<12x64xf32, operand>
    tile.yield %d : !tile.tile<4x12xf32, accumulator>
  }
  return
}
