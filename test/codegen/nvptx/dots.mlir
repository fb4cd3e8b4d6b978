// RUN: effc-opt %s --effc-nvptx-kernels > %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --input-file %t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_80 -Werror %t.ptx -o %t.cubin %}

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_80", features = "+ptx80", vector = 32, registers = 255,
    step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// Products by what their operands are: an f32 is three bf16 and is read by pairs, an
// f16 is two and a bf16 one, which `ldmatrix` loads, transposed where the contraction
// runs along the rows. One warp, one piece of 16 x 8, one step of 16.

// Of three parts by one, three products.
// CHECK-LABEL: .entry wide_by_narrow(
// CHECK-DAG: ld.shared.v2.b32
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x2.shared.b16
// CHECK-COUNT-3: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: mma.sync
tile.kernel @wide_by_narrow(%item, %x: !tile.view<?x16xf32, [16, 1]>,
                            %w: !tile.view<8x16xbf16, [16, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 16]
      : !tile.view<?x16xf32, [16, 1]> -> !tile.tile<16x16xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [8, 16]
      : !tile.view<8x16xbf16, [16, 1]> -> !tile.tile<8x16xf32, operand>
  %d = tile.dot %zero, %a, %b transpose_b : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x16xf32, operand>, !tile.tile<8x16xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}

// Both narrow: one product. B lies along its rows, and is transposed on the way.
// CHECK-LABEL: .entry narrow_by_narrow(
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: mma.sync
tile.kernel @narrow_by_narrow(%item, %x: !tile.view<?x16xbf16, [16, 1]>,
                              %w: !tile.view<16x8xbf16, [8, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 16]
      : !tile.view<?x16xbf16, [16, 1]> -> !tile.tile<16x16xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [16, 8]
      : !tile.view<16x8xbf16, [8, 1]> -> !tile.tile<16x8xf32, operand>
  %d = tile.dot %zero, %a, %b : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x16xf32, operand>, !tile.tile<16x8xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}

// Three parts by two: the five products of them that reach an f32.
// CHECK-LABEL: .entry wide_by_half(
// CHECK-COUNT-5: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: mma.sync
tile.kernel @wide_by_half(%item, %x: !tile.view<?x16xf32, [16, 1]>,
                          %w: !tile.view<8x16xf16, [16, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 16]
      : !tile.view<?x16xf32, [16, 1]> -> !tile.tile<16x16xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [8, 16]
      : !tile.view<8x16xf16, [16, 1]> -> !tile.tile<8x16xf32, operand>
  %d = tile.dot %zero, %a, %b transpose_b : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x16xf32, operand>, !tile.tile<8x16xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}

// Both wide: six.
// CHECK-LABEL: .entry wide_by_wide(
// CHECK-NOT: ldmatrix
// CHECK-COUNT-6: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: mma.sync
tile.kernel @wide_by_wide(%item, %x: !tile.view<?x16xf32, [16, 1]>,
                          %w: !tile.view<16x8xf32, [8, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 16]
      : !tile.view<?x16xf32, [16, 1]> -> !tile.tile<16x16xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [16, 8]
      : !tile.view<16x8xf32, [8, 1]> -> !tile.tile<16x8xf32, operand>
  %d = tile.dot %zero, %a, %b : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x16xf32, operand>, !tile.tile<16x8xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}

// Rounded, what is loaded to shared memory is bf16 there: one product in each step,
// which stays a loop.
// CHECK-LABEL: .entry rounded(
// CHECK-DAG: cvt.rn.bf16x2.f32
// CHECK-DAG: st.shared.v2.b32
// CHECK: .pragma "nounroll"
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: mma.sync
tile.kernel @rounded(%item, %x: !tile.view<?x64xf32, [64, 1]>,
                     %w: !tile.view<64x8xf32, [8, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %a = tile.load %x[%c0, %c0] sizes [16, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<16x64xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [64, 8]
      : !tile.view<64x8xf32, [8, 1]> -> !tile.tile<64x8xf32, operand>
  %d = tile.dot %zero, %a, %b rounded to bf16 : !tile.tile<16x8xf32, accumulator>,
      !tile.tile<16x64xf32, operand>, !tile.tile<64x8xf32, operand>
  tile.store %d, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}

// What is copied by itself is rounded when it is read, pair by pair: a product in
// each of three steps.
// CHECK-LABEL: .entry rounded_ring(
// CHECK: cp.async
// CHECK: ld.shared.v2.b32
// CHECK: cvt.rn.bf16x2.f32
// CHECK-COUNT-3: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: mma.sync
tile.kernel @rounded_ring(%item, %x: !tile.view<?x48xf32, [48, 1]>,
                          %w: !tile.view<8x48xbf16, [48, 1]>, %y: !tile.view<?x8xf32, [8, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %sum = tile.pipeline stages 2 extent 48 step 16 iter(%zero)
      : !tile.tile<16x8xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [16, 16]
        : !tile.view<?x48xf32, [48, 1]> -> !tile.tile<16x16xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [8, 16]
        : !tile.view<8x48xbf16, [48, 1]> -> !tile.tile<8x16xf32, operand>
    tile.yield %a, %b : !tile.tile<16x16xf32, operand>, !tile.tile<8x16xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<16x16xf32, operand>, %b: !tile.tile<8x16xf32, operand>,
       %acc: !tile.tile<16x8xf32, accumulator>):
    %d = tile.dot %acc, %a, %b transpose_b rounded to bf16 : !tile.tile<16x8xf32, accumulator>,
        !tile.tile<16x16xf32, operand>, !tile.tile<8x16xf32, operand>
    tile.yield %d : !tile.tile<16x8xf32, accumulator>
  }
  tile.store %sum, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xf32, [8, 1]>
}

// What is bf16 in memory is not rounded again: nothing is converted but the results,
// which are bf16 in memory too, two at a time.
// CHECK-LABEL: .entry narrow_ring(
// CHECK-NOT: cvt.rn
// CHECK: cp.async
// CHECK-NOT: cvt.rn
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-NOT: cvt.rn
// CHECK-COUNT-3: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-NOT: mma.sync
// CHECK: cvt.rn.bf16x2.f32
// CHECK: st.global.b32
tile.kernel @narrow_ring(%item, %x: !tile.view<?x48xbf16, [64, 1]>,
                         %w: !tile.view<8x48xbf16, [48, 1]>, %y: !tile.view<?x8xbf16, [32, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(2) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<16x8xf32, accumulator>
  %sum = tile.pipeline stages 2 extent 48 step 16 iter(%zero)
      : !tile.tile<16x8xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [16, 16]
        : !tile.view<?x48xbf16, [64, 1]> -> !tile.tile<16x16xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [8, 16]
        : !tile.view<8x48xbf16, [48, 1]> -> !tile.tile<8x16xf32, operand>
    tile.yield %a, %b : !tile.tile<16x16xf32, operand>, !tile.tile<8x16xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<16x16xf32, operand>, %b: !tile.tile<8x16xf32, operand>,
       %acc: !tile.tile<16x8xf32, accumulator>):
    %d = tile.dot %acc, %a, %b transpose_b rounded to bf16 : !tile.tile<16x8xf32, accumulator>,
        !tile.tile<16x16xf32, operand>, !tile.tile<8x16xf32, operand>
    tile.yield %d : !tile.tile<16x8xf32, accumulator>
  }
  tile.store %sum, %y[%c0, %c0] sizes [16, 8]
      : !tile.tile<16x8xf32, accumulator>, !tile.view<?x8xbf16, [32, 1]>
}
}
