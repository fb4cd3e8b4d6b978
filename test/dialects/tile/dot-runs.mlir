// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @dot_runs
func.func @dot_runs(%acc: !tile.tile<6x16xf32, accumulator>, %w: !tile.tile<6x64xf32, accumulator>, %x: !tile.tile<64xf32, row>) {
  // CHECK: tile.dot_runs %{{.*}}, %{{.*}}, %{{.*}} : <6x16xf32, accumulator>, <6x64xf32, accumulator>, <64xf32, row>
  %s = tile.dot_runs %acc, %w, %x : !tile.tile<6x16xf32, accumulator>, !tile.tile<6x64xf32, accumulator>, !tile.tile<64xf32, row>
  return
}

// A thread has runs of 8 of the tile, in 4 lanes, and two sums of each.
// CHECK-LABEL: func.func @scheduled
func.func @scheduled(%acc: !tile.tile<6x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 2>>,
                     %w: !tile.tile<6x64xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 8>>,
                     %x: !tile.tile<64xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 8>>) {
  // CHECK: tile.dot_runs {{.*}} : <6x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 2>>,
  %s = tile.dot_runs %acc, %w, %x : !tile.tile<6x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 2>>,
      !tile.tile<6x64xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 8>>,
      !tile.tile<64xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 8>>
  return
}
