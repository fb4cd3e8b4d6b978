// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The example of the op, in a scheduled kernel: a row that every group of 16 lanes
// holds goes to shared memory and comes back in another layout.
tile.kernel @example(%item, %s: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 256>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %s[%item, %c0] sizes [1, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  // CHECK: %[[S:.*]] = tile.convert %{{.*}} : <64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>> -> <64xf32, row, #tile.shared<threads = 128, offset = 0, stride = 64>>
  %s0 = tile.convert %a : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>> -> !tile.tile<64xf32, row, #tile.shared<threads = 128, offset = 0, stride = 64>>
  tile.barrier
  // CHECK: tile.convert %[[S]] : <64xf32, row, #tile.shared<threads = 128, offset = 0, stride = 64>> -> <64xf32, row, #tile.mma<threads = 128, row_warps = 2>>
  %b = tile.convert %s0 : !tile.tile<64xf32, row, #tile.shared<threads = 128, offset = 0, stride = 64>>
      -> !tile.tile<64xf32, row, #tile.mma<threads = 128, row_warps = 2>>
  tile.store %b, %s[%item, %c0] sizes [1, 64]
      : !tile.tile<64xf32, row, #tile.mma<threads = 128, row_warps = 2>>, !tile.view<?x64xf32, [64, 1]>
}
