// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The example of the op, in a scheduled kernel: 128 threads, 16 side by side along
// a row with 4 elements each.
tile.kernel @example(%item, %s: !tile.view<?x128x64xf32, [8192, 64, 1]>,
                     %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1)
    schedule(#tile.schedule<threads = 128, shared_bytes = 1024>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %s[%item, %c0, %c0] sizes [1, 128, 64]
      : !tile.view<?x128x64xf32, [8192, 64, 1]>
      -> !tile.tile<128x64xf32, accumulator, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  %p = tile.reduce add %a over rows
      : !tile.tile<128x64xf32, accumulator, #tile.lin<threads = 128, lanes = 16, vector = 4>>
      -> !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  // CHECK: tile.combine add %{{.*}} offset 0 : <64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  %o = tile.combine add %p offset 0
      : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  tile.store %o, %y[%item, %c0] sizes [1, 64]
      : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>,
        !tile.view<?x64xf32, [64, 1]>
}
