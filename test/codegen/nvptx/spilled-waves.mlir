// RUN: rm -rf %t && mkdir -p %t/bin && cp %S/Inputs/ptxas.sh %t/bin/ptxas && chmod +x %t/bin/ptxas
// RUN: env CUDA_HOME=%t SPILLS_WITH='maxnreg 32' effc-opt %s --nvptx-emit-code 2>&1 | FileCheck %s --check-prefix=DROPPED
// RUN: env CUDA_HOME=%t SPILLS_WITH=entry effc-opt %s --nvptx-emit-code 2>&1 | FileCheck %s --check-prefix=SPILLS

// An assembler (a script) spills in a kernel whose registers are bounded so that waves are
// whole. It is asked once more without the bound. If it still spills, it is asked for one
// block of a core, and then a remark says so.
// DROPPED-NOT: spills
// DROPPED: plan.binary @sm_80 {{.*}} ptxas "12.8.93" code
// SPILLS: remark: kernel 'bounded' spills 8 bytes of registers on sm_80
// SPILLS: plan.binary @sm_80 {{.*}} ptxas "12.8.93" code
module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    cpu = "sm_80", features = "+ptx80", ptx = "compute_80", vector = 32,
    registers = 255, step_rate = 64, dot_rate = 256, cores = 108, bandwidth = 1446, rereads = 1309>} {
llvm.func @bounded(%x: !llvm.ptr<1>) attributes {effc.shared_bytes = 0 : i64, effc.threads = 32 : i64,
    nvvm.kernel, nvvm.maxnreg = 32 : i32, nvvm.maxntid = array<i32: 32, 1, 1>} {
  %one = llvm.mlir.constant(1.0 : f32) : f32
  llvm.store %one, %x : f32, !llvm.ptr<1>
  llvm.return
}
}
