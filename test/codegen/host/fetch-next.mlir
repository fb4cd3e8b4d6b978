// RUN: effc-opt %s --host-lower-kernels --canonicalize --cse | FileCheck %s

// A product whose weight is read once: an iteration takes a cache line, 32 bf16, of
// each of its 5 rows, and asks for the line so far ahead as blocks of 5 rows of 96
// elements (192 bytes) come near to 8192 bytes: 8 blocks of 960, 7680 bytes. 80 columns are
// two lines and two vectors of 8.
// CHECK-LABEL: llvm.func @product(
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK-COUNT-5: "llvm.intr.prefetch"({{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-NOT: llvm.intr.prefetch
// CHECK: scf.yield
// CHECK-NOT: llvm.intr.prefetch
tile.kernel @product(%item, %x: !tile.view<?x80xf32, [80, 1]>, %w: !tile.view<5x80xbf16, [96, 1]>,
                     %y: !tile.view<?x5xf32, [16, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : !tile.tile<1x5xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 80] : !tile.view<?x80xf32, [80, 1]> -> !tile.tile<1x80xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [5, 80] fetch_next : !tile.view<5x80xbf16, [96, 1]> -> !tile.tile<5x80xf32, operand>
  %p = tile.dot %acc, %a, %b transpose_b : !tile.tile<1x5xf32, accumulator>, !tile.tile<1x80xf32, operand>, !tile.tile<5x80xf32, operand>
  tile.store %p, %y[%item, %c0] sizes [1, 5] : !tile.tile<1x5xf32, accumulator>, !tile.view<?x5xf32, [16, 1]>
}

// Long rows of f32 are read in the order in which they lie, one by one, in lines of 16
// elements. Of bf16 an addition takes half the bytes, so that sums of 6 rows wait together.
// CHECK-LABEL: llvm.func @long_rows(
// CHECK: scf.for %{{.*}} = %c0 to %c6 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c528 step %c16
// CHECK-COUNT-1: "llvm.intr.prefetch"
// CHECK-NOT: llvm.intr.prefetch
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c32
// CHECK-COUNT-6: "llvm.intr.prefetch"
// CHECK-NOT: llvm.intr.prefetch
// CHECK: scf.yield
tile.kernel @long_rows(%item, %x: !tile.view<?x528xf32, [528, 1]>, %w: !tile.view<6x528xf32, [528, 1]>,
                       %v: !tile.view<6x528xbf16, [528, 1]>, %y: !tile.view<?x6xf32, [16, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(3) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : !tile.tile<1x6xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 528] : !tile.view<?x528xf32, [528, 1]> -> !tile.tile<1x528xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [6, 528] fetch_next : !tile.view<6x528xf32, [528, 1]> -> !tile.tile<6x528xf32, operand>
  %c = tile.load %v[%c0, %c0] sizes [6, 528] fetch_next : !tile.view<6x528xbf16, [528, 1]> -> !tile.tile<6x528xf32, operand>
  %p = tile.dot %acc, %a, %b transpose_b : !tile.tile<1x6xf32, accumulator>, !tile.tile<1x528xf32, operand>, !tile.tile<6x528xf32, operand>
  %q = tile.dot %p, %a, %c transpose_b : !tile.tile<1x6xf32, accumulator>, !tile.tile<1x528xf32, operand>, !tile.tile<6x528xf32, operand>
  tile.store %q, %y[%item, %c0] sizes [1, 6] : !tile.tile<1x6xf32, accumulator>, !tile.view<?x6xf32, [16, 1]>
}

// Where rows come from memory, a run is 64 lanes, four lines, so that 72 columns
// are one run and one of 8: 5 requests a row, 8192 bytes ahead.
// CHECK-LABEL: llvm.func @update(
// CHECK: scf.for
// CHECK: llvm.getelementptr %{{.*}}[8192]
// CHECK-COUNT-4: "llvm.intr.prefetch"
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<64xf32>
// CHECK: scf.for
// CHECK-COUNT-1: "llvm.intr.prefetch"
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK-NOT: llvm.intr.prefetch
tile.kernel @update(%item, %s: !tile.view<?x3x72xf32, [256, 72, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %old = tile.load %s[%item, %c0, %c0] sizes [1, 3, 72] fetch_next
      : !tile.view<?x3x72xf32, [256, 72, 1]> -> !tile.tile<3x72xf32, accumulator>
  %new = tile.map(%old, %half) : (!tile.tile<3x72xf32, accumulator>, f32) -> !tile.tile<3x72xf32, accumulator> {
  ^bb0(%e: f32, %h: f32):
    %p = arith.mulf %e, %h : f32
    tile.yield %p : f32
  }
  tile.store %new, %s[%item, %c0, %c0] sizes [1, 3, 72]
      : !tile.tile<3x72xf32, accumulator>, !tile.view<?x3x72xf32, [256, 72, 1]>
}
