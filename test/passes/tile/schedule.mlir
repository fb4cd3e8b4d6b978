// DEFINE: %{schedule} = --tile-choose-threads --tile-assign-layouts --tile-fetch-ahead \
// DEFINE:   --tile-place-shared --tile-insert-barriers
// RUN: effc-opt %s %{schedule} --split-input-file --verify-diagnostics | FileCheck %s

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// Blocks of 16 x 24: 384 elements leave 12 to each thread of one warp. Vectors of 4
// are 6 runs of columns; with 2 lanes a thread has 3 runs of one row, with 4 lanes
// 2 runs of 2 rows, with 8 lanes 1 run of 4 rows: 2 lanes leave 12 places, the
// fewest. A warp that sums alone needs no barrier.
// CHECK-LABEL: tile.kernel @read_out
// CHECK-SAME: schedule(#tile.schedule<threads = 32, shared_bytes = 96>)
tile.kernel @read_out(%item, %s: !tile.view<?x16x24xf32, [384, 24, 1]>,
                      %o: !tile.view<?x24xf32, [24, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.load {{.*}} -> <16x24xf32, accumulator, #tile.lin<threads = 32, lanes = 2, vector = 4>>
  %a = tile.load %s[%item, %c0, %c0] sizes [1, 16, 24]
      : !tile.view<?x16x24xf32, [384, 24, 1]> -> !tile.tile<16x24xf32, accumulator>
  // CHECK: tile.reduce add %{{.*}} over rows scratch 0 {{.*}} -> !tile.tile<24xf32, row, #tile.lin<threads = 32, lanes = 2, vector = 4>>
  %r = tile.reduce add %a over rows
      : !tile.tile<16x24xf32, accumulator> -> !tile.tile<24xf32, row>
  // CHECK-NOT: tile.barrier
  tile.store %r, %o[%item, %c0] sizes [1, 24]
      : !tile.tile<24xf32, row>, !tile.view<?x24xf32, [24, 1]>
}
}
// -----

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// A product: the accumulator lies as tensor cores leave it, the operands are loaded
// to shared memory, 16 rows of 32 and 8 more f32, and a barrier stands before they
// are read; the next turn of the loop waits before it overwrites them.
// CHECK-LABEL: tile.kernel @product
// CHECK: scf.for
// CHECK: tile.barrier
// CHECK: tile.load {{.*}} -> <16x32xf32, operand, #tile.shared<threads = 32, offset = 0, stride = 40>>
// CHECK: tile.load {{.*}} -> <24x32xf32, operand, #tile.shared<threads = 32, offset = 2560, stride = 40>>
// CHECK: tile.barrier
// CHECK: tile.dot {{.*}} #tile.mma<threads = 32, row_warps = 1>
tile.kernel @product(%item, %x: !tile.view<?x64xf32, [64, 1]>, %w: !tile.view<24x64xf32, [64, 1]>,
                     %y: !tile.view<?x24xf32, [24, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x24xf32, accumulator>
  %sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (!tile.tile<16x24xf32, accumulator>) {
    %a = tile.load %x[%c0, %k] sizes [16, 32]
        : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<16x32xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [24, 32]
        : !tile.view<24x64xf32, [64, 1]> -> !tile.tile<24x32xf32, operand>
    %d = tile.dot %acc, %a, %b transpose_b : !tile.tile<16x24xf32, accumulator>,
        !tile.tile<16x32xf32, operand>, !tile.tile<24x32xf32, operand>
    scf.yield %d : !tile.tile<16x24xf32, accumulator>
  }
  tile.store %sum, %y[%c0, %c0] sizes [16, 24]
      : !tile.tile<16x24xf32, accumulator>, !tile.view<?x24xf32, [24, 1]>
}
}
// -----

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// A mask that products alone read, of numbers that bf16 holds: it goes to shared
// memory as such, 16 rows of 16 and 8 more bf16. What else reads stays f32.
// CHECK-LABEL: tile.kernel @running_sums
// CHECK: %[[MASK:.*]] = tile.map{{.*}} -> !tile.tile<16x16xbf16, accumulator, #tile.lin
// CHECK: %[[SHARED:.*]] = tile.convert %[[MASK]] : {{.*}} -> <16x16xbf16, accumulator, #tile.shared<threads = 32, offset = {{[0-9]+}}, stride = 24>>
// CHECK: tile.convert {{.*}} -> <16x16xf32, accumulator, #tile.shared<threads = 32, offset = {{[0-9]+}}, stride = 24>>
// CHECK: tile.dot %{{.*}}, %[[SHARED]], %{{.*}}
tile.kernel @running_sums(%item, %x: !tile.view<16x24xf32, [24, 1]>, %y: !tile.view<16x24xf32, [24, 1]>,
                          %z: !tile.view<16x16xf32, [16, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %f1 = arith.constant 1.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x24xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 24]
      : !tile.view<16x24xf32, [24, 1]> -> !tile.tile<16x24xf32, operand>
  %mask = tile.map(%f1, %f0) : (f32, f32) -> !tile.tile<16x16xf32, accumulator> {
  ^bb0(%one: f32, %none: f32):
    %r = tile.row_index
    %c = tile.column_index
    %counts = arith.cmpi ule, %c, %r : index
    %e = arith.select %counts, %one, %none : f32
    tile.yield %e : f32
  }
  %both = tile.map(%f1) : (f32) -> !tile.tile<16x16xf32, accumulator> {
  ^bb0(%one: f32):
    tile.yield %one : f32
  }
  %d = tile.dot %zero, %mask, %a : !tile.tile<16x24xf32, accumulator>,
      !tile.tile<16x16xf32, accumulator>, !tile.tile<16x24xf32, operand>
  %e = tile.dot %d, %both, %a : !tile.tile<16x24xf32, accumulator>,
      !tile.tile<16x16xf32, accumulator>, !tile.tile<16x24xf32, operand>
  tile.store %e, %y[%c0, %c0] sizes [16, 24]
      : !tile.tile<16x24xf32, accumulator>, !tile.view<16x24xf32, [24, 1]>
  tile.store %both, %z[%c0, %c0] sizes [16, 16]
      : !tile.tile<16x16xf32, accumulator>, !tile.view<16x16xf32, [16, 1]>
}
}
// -----

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// Rounded products read bf16: what nothing else reads is loaded as such, and of a
// tile that others read too there is a copy of each kind.
// CHECK-LABEL: tile.kernel @rounded
// CHECK: %[[X:.*]] = tile.load {{.*}} -> <16x24xbf16, operand, #tile.shared<threads = 32, offset = {{[0-9]+}}, stride = 40>>
// CHECK: %[[TWICE:.*]] = tile.map
// CHECK-DAG: %[[NARROW:.*]] = tile.convert %[[TWICE]] : <16x16xf32, {{.*}} -> <16x16xbf16, accumulator, #tile.shared
// CHECK-DAG: %[[WIDE:.*]] = tile.convert %[[TWICE]] : <16x16xf32, {{.*}} -> <16x16xf32, accumulator, #tile.shared
// CHECK: %[[D:.*]] = tile.dot %{{.*}}, %[[NARROW]], %[[X]] rounded to bf16
// CHECK: tile.dot %{{.*}}, %[[WIDE]], %{{.*}} :
tile.kernel @rounded(%item, %s: !tile.view<16x16xf32, [16, 1]>, %x: !tile.view<16x24xf32, [24, 1]>,
                     %w: !tile.view<16x8xf32, [8, 1]>, %y: !tile.view<16x24xf32, [24, 1]>,
                     %z: !tile.view<16x8xf32, [8, 1]>)
    items(#tile.items<one, tile = 1, times = 1>) writes(3, 4) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x24xf32, accumulator>
  %none = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 24]
      : !tile.view<16x24xf32, [24, 1]> -> !tile.tile<16x24xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [16, 8]
      : !tile.view<16x8xf32, [8, 1]> -> !tile.tile<16x8xf32, operand>
  %c = tile.load %s[%c0, %c0] sizes [16, 16]
      : !tile.view<16x16xf32, [16, 1]> -> !tile.tile<16x16xf32, accumulator>
  %twice = tile.map(%c) : (!tile.tile<16x16xf32, accumulator>) -> !tile.tile<16x16xf32, accumulator> {
  ^bb0(%one: f32):
    %two = arith.addf %one, %one : f32
    tile.yield %two : f32
  }
  %d = tile.dot %zero, %twice, %a rounded to bf16 : !tile.tile<16x24xf32, accumulator>,
      !tile.tile<16x16xf32, accumulator>, !tile.tile<16x24xf32, operand>
  %e = tile.dot %none, %twice, %b : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x16xf32, accumulator>, !tile.tile<16x8xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 24]
      : !tile.tile<16x24xf32, accumulator>, !tile.view<16x24xf32, [24, 1]>
  tile.store %e, %z[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<16x8xf32, [8, 1]>
}
}
// -----

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// A pipeline of three stages keeps two copies on their way; narrow operands stay
// narrow.
// CHECK-LABEL: tile.kernel @ahead
// CHECK: tile.ring : <16x32xbf16, operand, #tile.shared<threads = 32, offset = 0, stride = 40, slots = 3>>
// CHECK: tile.fetch
// CHECK: tile.commit
// CHECK: tile.fetch
// CHECK: tile.commit
// CHECK: scf.for
// CHECK: tile.await {{.*}} pending 1
// CHECK-NEXT: tile.barrier
// CHECK: scf.if
// CHECK: tile.fetch
// CHECK: tile.commit
// CHECK: tile.dot
// CHECK-NOT: tile.barrier
// CHECK: tile.store
tile.kernel @ahead(%item, %x: !tile.view<?x128xbf16, [128, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x16xf32, accumulator>
  %sum = tile.pipeline stages 3 extent 128 step 32 iter(%zero) : !tile.tile<16x16xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [16, 32]
        : !tile.view<?x128xbf16, [128, 1]> -> !tile.tile<16x32xf32, operand>
    tile.yield %a : !tile.tile<16x32xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<16x32xf32, operand>, %acc: !tile.tile<16x16xf32, accumulator>):
    %d = tile.dot %acc, %a, %a transpose_b : !tile.tile<16x16xf32, accumulator>,
        !tile.tile<16x32xf32, operand>, !tile.tile<16x32xf32, operand>
    tile.yield %d : !tile.tile<16x16xf32, accumulator>
  }
  tile.store %sum, %y[%c0, %c0] sizes [16, 16]
      : !tile.tile<16x16xf32, accumulator>, !tile.view<?x16xf32, [16, 1]>
}
}
// -----

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// In a loop around it a barrier stands behind the ring's own loop: the next turn
// fills slots that other warps may still read.
// CHECK-LABEL: tile.kernel @ahead_again
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.dot
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tile.barrier
// CHECK: tile.store
tile.kernel @ahead_again(%item, %x: !tile.view<?x128xbf16, [128, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x16xf32, accumulator>
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %turn = %c0 to %c3 step %c1 {
  %sum = tile.pipeline stages 3 extent 128 step 32 iter(%zero) : !tile.tile<16x16xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [16, 32]
        : !tile.view<?x128xbf16, [128, 1]> -> !tile.tile<16x32xf32, operand>
    tile.yield %a : !tile.tile<16x32xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<16x32xf32, operand>, %acc: !tile.tile<16x16xf32, accumulator>):
    %d = tile.dot %acc, %a, %a transpose_b : !tile.tile<16x16xf32, accumulator>,
        !tile.tile<16x32xf32, operand>, !tile.tile<16x32xf32, operand>
    tile.yield %d : !tile.tile<16x16xf32, accumulator>
  }
  tile.store %sum, %y[%c0, %c0] sizes [16, 16]
      : !tile.tile<16x16xf32, accumulator>, !tile.view<?x16xf32, [16, 1]>
  }
}
}
// -----

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// A tile that is loaded once and handed on twice has no ring of its own: the loads
// stay in their turn.
// CHECK-LABEL: tile.kernel @twice
// CHECK-NOT: tile.ring
// CHECK: tile.pipeline
tile.kernel @twice(%item, %x: !tile.view<?x128xbf16, [128, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x16xf32, accumulator>
  %sum = tile.pipeline stages 3 extent 128 step 32 iter(%zero) : !tile.tile<16x16xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [16, 32]
        : !tile.view<?x128xbf16, [128, 1]> -> !tile.tile<16x32xf32, operand>
    tile.yield %a, %a : !tile.tile<16x32xf32, operand>, !tile.tile<16x32xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<16x32xf32, operand>, %b: !tile.tile<16x32xf32, operand>, %acc: !tile.tile<16x16xf32, accumulator>):
    %d = tile.dot %acc, %a, %b transpose_b : !tile.tile<16x16xf32, accumulator>,
        !tile.tile<16x32xf32, operand>, !tile.tile<16x32xf32, operand>
    tile.yield %d : !tile.tile<16x16xf32, accumulator>
  }
  tile.store %sum, %y[%c0, %c0] sizes [16, 16]
      : !tile.tile<16x16xf32, accumulator>, !tile.view<?x16xf32, [16, 1]>
}
}
// -----

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// 512 x 128 f32 do not fit.
// expected-error @+1 {{kernel 'large' needs 278528 bytes of shared memory, but a block of the target has 166912}}
tile.kernel @large(%item, %x: !tile.view<?x128xf32, [128, 1]>, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<512x512xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [512, 128]
      : !tile.view<?x128xf32, [128, 1]> -> !tile.tile<512x128xf32, operand>
  %d = tile.dot %zero, %a, %a transpose_b : !tile.tile<512x512xf32, accumulator>,
      !tile.tile<512x128xf32, operand>, !tile.tile<512x128xf32, operand>
  %r = tile.reduce add %d over rows : !tile.tile<512x512xf32, accumulator> -> !tile.tile<512xf32, row>
}
}
