// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The example of the op.
tile.kernel @example(%item, %s: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 256>) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.commit
  tile.commit
}
