// RUN: effc-opt %s --effc-nvptx-kernels --nvptx-emit-code | FileCheck %s
// RUN: rm -rf %t && mkdir -p %t/bin && cp %S/Inputs/ptxas.sh %t/bin/ptxas && chmod +x %t/bin/ptxas
// RUN: env CUDA_HOME=%t effc-opt %s --effc-nvptx-kernels --nvptx-emit-code | FileCheck %s --check-prefixes=CUBIN,CHECK
// RUN: sed 's/cpu = "sm_80", //' %s | not effc-opt --effc-nvptx-kernels --nvptx-emit-code 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: sed 's/ptx = "compute_80", //' %s | not effc-opt --effc-nvptx-kernels --nvptx-emit-code 2>&1 | FileCheck %s --check-prefix=TEXT
// CHIP: error: expects a module whose 'tile.target' names a GPU and its chip ('cpu'), but got #tile.target<nvptx,
// TEXT: error: expects a target that names the text of its code ('ptx'), but got #tile.target<nvptx,

// Code that runs on its own chip alone has no text, unless it is all there is.
// RUN: sed 's/ptx = "compute_80",/& own_chips = true,/' %s > %t/own.mlir
// RUN: env CUDA_HOME=%t effc-opt %t/own.mlir --effc-nvptx-kernels --nvptx-emit-code | FileCheck %s --check-prefix=OWN
// OWN: plan.binary @sm_80
// OWN-NOT: plan.binary

// An assembler that is a script says its version, and gives 64 bytes.
// CUBIN: plan.binary @sm_80 isa "sm_80" kernels ["double"] offsets [0] stack_bytes [0] threads [32] shared_bytes [0]
// CUBIN-SAME: registers [7] spill_bytes [0] ptxas "12.8.93" code
// CUBIN-SAME: tensor<64xi8>

// What is compiled: PTX for newer chips and, where ptxas is, a cubin with what it
// says of each kernel. Four rows of 64 f32, one row to a block of 32 threads.
// CHECK: plan.binary @compute_80 isa "compute_80" kernels ["double"] offsets [0] stack_bytes [0] threads [32] shared_bytes [0] code
// What its text is made of: four elements of a row in a thread, where there are so many.
// CHECK-SAME: plan.instructions = [{ld.global.32 = 4 : i64, st.global.32 = 4 : i64}]
module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_80", features = "+ptx80", ptx = "compute_80", vector = 32,
    registers = 255, step_rate = 64, dot_rate = 256, cores = 108, bandwidth = 1446, rereads = 1309>} {
tile.kernel @double(%item, %x: !tile.view<?x64xf32, [64, 1]>, %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64xf32, row>
  %b = tile.map(%a) : (!tile.tile<64xf32, row>) -> !tile.tile<64xf32, row> {
  ^bb0(%e: f32):
    %s = arith.addf %e, %e : f32
    tile.yield %s : f32
  }
  tile.store %b, %y[%item, %c0] sizes [1, 64]
      : !tile.tile<64xf32, row>, !tile.view<?x64xf32, [64, 1]>
}
}
