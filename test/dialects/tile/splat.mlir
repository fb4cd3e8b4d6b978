// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @splat
func.func @splat(%c: f32) {
  // CHECK: tile.splat %{{.*}} : <4x12xf32, accumulator>
  %zero = tile.splat %c : !tile.tile<4x12xf32, accumulator>
  return
}
