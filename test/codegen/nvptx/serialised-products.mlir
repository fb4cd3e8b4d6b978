// RUN: rm -rf %t && mkdir -p %t/bin && cp %S/Inputs/ptxas.sh %t/bin/ptxas && chmod +x %t/bin/ptxas
// RUN: env CUDA_HOME=%t SERIALISES_UNLESS=minnctapersm effc-opt %s --effc-nvptx-kernels --nvptx-emit-code | FileCheck %s
// RUN: not env CUDA_HOME=%t SERIALISES_UNLESS=moon effc-opt %s --effc-nvptx-kernels --nvptx-emit-code 2>&1 | FileCheck %s --check-prefix=ERROR

// An assembler (a script) that serialises products is asked once more, for kernels
// that are content with one block on a core; if it still does it is an error, with
// the lines in which it says so and no others.
// CHECK: plan.binary @sm_80 {{.*}} ptxas "12.8.93" code
// ERROR: error: ptxas had to serialise products of warp groups for sm_80: ptxas info    : (C7519) warpgroup.arrive is injected in around line 13 by compiler to allow use of registers in GMMA in function 'double'{{$}}
// ERROR-NOT: Used {{[0-9]+}} registers
module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_80", features = "+ptx80", ptx = "compute_80", vector = 32,
    registers = 255, step_rate = 64, dot_rate = 256, cores = 108, bandwidth = 1446, rereads = 1309>} {
tile.kernel @double(%item, %x: !tile.view<?x64xf32, [64, 1]>, %y: !tile.view<?x64xf32, [64, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64xf32, row>
  tile.store %a, %y[%item, %c0] sizes [1, 64]
      : !tile.tile<64xf32, row>, !tile.view<?x64xf32, [64, 1]>
}
}
