// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The example of the op: of a product's operand two steps along the contraction are
// on their way while the third is used.
tile.kernel @example(%item, %x: !tile.view<?x768xf32, [768, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes()
    schedule(#tile.schedule<threads = 128, shared_bytes = 27648>) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.fetch %{{.*}}[%{{.*}}, %{{.*}}] sizes [64, 32] into %{{.*}}[%{{.*}}] : <?x768xf32, [768, 1]>, <64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>
  %r = tile.ring : !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>
  tile.fetch %x[%item, %c0] sizes [64, 32] into %r[%c0]
      : !tile.view<?x768xf32, [768, 1]>, !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>
  tile.commit
  %a = tile.await %r[%c0] pending 1
      : (!tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>) -> !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36>>
}
