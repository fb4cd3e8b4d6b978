// RUN: effc-opt %s --tile-schedule --split-input-file --verify-diagnostics | FileCheck %s

// Blocks of 16 x 24: vectors of 4 leave 6 runs of columns, of which 2 lanes are the
// most that divide them; with 128 threads 64 groups would share 16 rows, so 32
// threads remain: 16 groups of 2 lanes. One warp needs 24 floats, 96 bytes.
// CHECK-LABEL: tile.kernel @read_out
// CHECK-SAME: schedule(#tile.schedule<threads = 32, shared_bytes = 96>)
tile.kernel @read_out(%item, %s: !tile.view<?x16x24xf32, [384, 24, 1]>,
                      %o: !tile.view<?x24xf32, [24, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.load {{.*}} -> <16x24xf32, accumulator, #tile.lin<threads = 32, lanes = 2, vector = 4>>
  %a = tile.load %s[%item, %c0, %c0] sizes [1, 16, 24]
      : !tile.view<?x16x24xf32, [384, 24, 1]> -> !tile.tile<16x24xf32, accumulator>
  // CHECK: %[[P:.*]] = tile.reduce add %{{.*}} over rows
  // CHECK: %[[R:.*]] = tile.combine add %[[P]] offset 0
  // expected-remark @+1 {{sum over rows goes through 96 bytes of shared memory}}
  %r = tile.reduce add %a over rows
      : !tile.tile<16x24xf32, accumulator> -> !tile.tile<24xf32, row>
  // CHECK: tile.store %[[R]]
  tile.store %r, %o[%item, %c0] sizes [1, 24]
      : !tile.tile<24xf32, row>, !tile.view<?x24xf32, [24, 1]>
}

// -----

// A loop has no layout rule: the kernel is left as it is.
// CHECK-LABEL: tile.kernel @loop
// CHECK-NOT: schedule
// CHECK: scf.for
tile.kernel @loop(%item, %s: !tile.view<?x16x24xf32, [384, 24, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{kernel 'loop' stays at kernel level: 'scf.for' has no layout rule}}
  scf.for %i = %c0 to %item step %c1 {
    %a = tile.load %s[%i, %c0, %c0] sizes [1, 16, 24]
        : !tile.view<?x16x24xf32, [384, 24, 1]> -> !tile.tile<16x24xf32, accumulator>
    tile.store %a, %s[%item, %c0, %c0] sizes [1, 16, 24]
        : !tile.tile<16x24xf32, accumulator>, !tile.view<?x16x24xf32, [384, 24, 1]>
  }
}

// -----

// 7 rows: no power of two of threads, however few, has groups that divide them.
// expected-remark @+1 {{kernel 'seven_rows' stays at kernel level: no number of threads divides its rows}}
tile.kernel @seven_rows(%item, %s: !tile.view<?x7x20xf32, [140, 20, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %a = tile.load %s[%item, %c0, %c0] sizes [1, 7, 20]
      : !tile.view<?x7x20xf32, [140, 20, 1]> -> !tile.tile<7x20xf32, accumulator>
  tile.store %a, %s[%item, %c0, %c0] sizes [1, 7, 20]
      : !tile.tile<7x20xf32, accumulator>, !tile.view<?x7x20xf32, [140, 20, 1]>
}
