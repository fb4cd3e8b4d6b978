// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce
func.func @reduce(%p: !tile.tile<128x64xf32, accumulator>, %r: !tile.tile<5xf32, row>) {
  // CHECK: tile.reduce add %{{.*}} over rows : <128x64xf32, accumulator> -> !tile.tile<64xf32, row>
  %o = tile.reduce add %p over rows : !tile.tile<128x64xf32, accumulator> -> !tile.tile<64xf32, row>
  // CHECK: tile.reduce max %{{.*}} over columns : <128x64xf32, accumulator> -> !tile.tile<128xf32, column>
  %m = tile.reduce max %p over columns : !tile.tile<128x64xf32, accumulator> -> !tile.tile<128xf32, column>
  // CHECK: tile.reduce add %{{.*}} over columns : <5xf32, row> -> f32
  %s = tile.reduce add %r over columns : !tile.tile<5xf32, row> -> f32
  return
}
