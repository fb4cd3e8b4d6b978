// DEFINE: %{schedule} = --tile-choose-threads --tile-assign-layouts --tile-fetch-ahead \
// DEFINE:   --tile-place-shared --tile-insert-barriers
// RUN: effc-opt %s %{schedule} --nvptx-lower-kernels | FileCheck %s
// RUN: effc-opt %s %{schedule} --nvptx-lower-kernels --nvptx-write-assembly | FileCheck %s --check-prefix=ASM
// RUN: sed 's/overlaps = true, //' %s | effc-opt %{schedule} --nvptx-lower-kernels | FileCheck %s --check-prefix=ALONE
// RUN: effc-opt %s %{schedule} --nvptx-lower-kernels --effc-nvptx-kernels --nvptx-write-assembly > %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_90a -Werror %t.ptx -o %t.cubin %}

// The next launch may begin at once. The boxes of the weight's first two steps are on
// their way before the kernel waits for those that write its rows, and nothing else.
// CHECK-LABEL: llvm.func @linear
// CHECK-SAME: effc.overlaps
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: nvvm.griddepcontrol wait
// CHECK-NOT: nvvm.griddepcontrol
// CHECK: nvvm.cp.async.shared.global

// No load passes the wait.
// ASM: nvvm.griddepcontrol launch_dependents
// ASM: llvm.inline_asm has_side_effects "griddepcontrol.wait;", "~{memory}"
// ASM-NOT: nvvm.griddepcontrol wait

// In what ptxas gets they are where they were.
// PTX-LABEL: .entry linear(
// PTX: griddepcontrol.launch_dependents;
// PTX-NOT: cp.async.c
// PTX-COUNT-2: cp.async.bulk.tensor.2d
// PTX-NOT: cp.async.c
// PTX: griddepcontrol.wait;
// PTX: cp.async.cg
// PTX-LABEL: .entry copy(
// PTX-NOT: ld.global
// PTX: griddepcontrol.wait;
// PTX: ld.global

module attributes {tile.target = #tile.target<nvptx, units = [#tile.wgmma, #tile.mma_sync], overlaps = true, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_90a", features = "+ptx80", vector = 32, registers = 255,
    step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
// ALONE-NOT: griddepcontrol
tile.kernel @linear(%item, %x: !tile.view<?x192xf32, [192, 1]>, %w: !tile.view<64x192xbf16, [192, 1]>,
                    %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 64, times = 1>) writes(2) streamed(1) aligned(0, 1, 2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<64x64xf32, accumulator>
  %d = tile.pipeline stages 3 extent 192 step 64 iter(%zero)
      : !tile.tile<64x64xf32, accumulator> load {
  ^bb0(%k: index):
    %a = tile.load %x[%c0, %k] sizes [64, 64]
        : !tile.view<?x192xf32, [192, 1]> -> !tile.tile<64x64xf32, operand>
    %b = tile.load %w[%c0, %k] sizes [64, 64]
        : !tile.view<64x192xbf16, [192, 1]> -> !tile.tile<64x64xf32, operand>
    tile.yield %a, %b : !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
  } compute {
  ^bb0(%a: !tile.tile<64x64xf32, operand>, %b: !tile.tile<64x64xf32, operand>,
       %acc: !tile.tile<64x64xf32, accumulator>):
    %s = tile.dot %acc, %a, %b transpose_b : !tile.tile<64x64xf32, accumulator>,
        !tile.tile<64x64xf32, operand>, !tile.tile<64x64xf32, operand>
    tile.yield %s : !tile.tile<64x64xf32, accumulator>
  }
  tile.store %d, %y[%c0, %c0] sizes [64, 64]
      : !tile.tile<64x64xf32, accumulator>, !tile.view<?x64xf32, [64, 1]>
}

// A kernel that has nothing else to do first waits first.
// CHECK-LABEL: llvm.func @copy
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK: nvvm.griddepcontrol wait
// CHECK: llvm.load
tile.kernel @copy(%item, %x: !tile.view<?x64xf32, [64, 1]>, %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 16, times = 1>) writes(1) aligned(0, 1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] sizes [16, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<16x64xf32, accumulator>
  tile.store %a, %y[%c0, %c0] sizes [16, 64]
      : !tile.tile<16x64xf32, accumulator>, !tile.view<?x64xf32, [64, 1]>
}
}
