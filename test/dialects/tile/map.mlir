// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @map
func.func @map(%state: !tile.tile<128x64xf32, accumulator>, %decay: f32, %k: !tile.tile<128xf32, column>,
               %v: !tile.tile<64xf32, row>) {
  // CHECK: tile.map(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!tile.tile<128x64xf32, accumulator>, f32, !tile.tile<128xf32, column>, !tile.tile<64xf32, row>) -> !tile.tile<128x64xf32, accumulator> {
  %s = tile.map(%state, %decay, %k, %v)
      : (!tile.tile<128x64xf32, accumulator>, f32, !tile.tile<128xf32, column>,
         !tile.tile<64xf32, row>) -> !tile.tile<128x64xf32, accumulator> {
  ^bb0(%se: f32, %de: f32, %ke: f32, %ve: f32):
    %a = arith.mulf %se, %de : f32
    %b = math.fma %ke, %ve, %a : f32
    // CHECK: tile.yield %{{.*}} : f32
    tile.yield %b : f32
  }
  // CHECK: tile.row_index
  // CHECK: tile.column_index
  %m = tile.map(%state) : (!tile.tile<128x64xf32, accumulator>) -> !tile.tile<128x64xf32, accumulator> {
  ^bb0(%e: f32):
    %r = tile.row_index
    %c = tile.column_index
    %below = arith.cmpi sgt, %r, %c : index
    %x = arith.select %below, %decay, %e : f32
    tile.yield %x : f32
  }
  return
}
