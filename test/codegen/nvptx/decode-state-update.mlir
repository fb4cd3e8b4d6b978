// RUN: effc-opt %s --pass-pipeline='builtin.module(effc-phase-seq,effc-phase-tile)' > %t.tile.mlir
// RUN: FileCheck %s --check-prefix=TILE --input-file %t.tile.mlir
// RUN: effc-opt %t.tile.mlir --effc-nvptx-kernels > %t.nvvm.mlir
// RUN: FileCheck %s --check-prefix=NVVM --input-file %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_80 -Werror %t.ptx -o %t.cubin %}

// The decode kernel that the host runs, from the same builder, on the way to a GPU.
// Its state is 32 x 64 per head, 2048 elements, 32 to each of 64 threads: 16 lanes
// of 4 columns and 4 groups of 8 rows. One head of one sequence is a block.
module attributes {
    seq.model = #seq.model<family = "mamba2", vocabulary = 61, width = 192, max_context = 0>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        cpu = "sm_80", features = "+ptx80", vector = 32, registers = 255, step_rate = 60,
        dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
  seq.weight @a_log source("a_log") : tensor<3xf32>
  seq.weight @dt_bias source("dt_bias") : tensor<3xf32>
  seq.weight @d source("d") : tensor<3xf32>
  seq.weight @embeddings source("embeddings") : tensor<61x323xf32>
  seq.weight @head source("head") : tensor<61x192xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
                     %s: tensor<3x32x64xf32> {seq.state_name = "layers.0.ssd"})
      -> (tensor<?x61xf32>, tensor<3x32x64xf32>) {
    %e = seq.parameter @embeddings : tensor<61x323xf32>
    %p = seq.embedding %tokens, %e : (tensor<?xi32>, tensor<61x323xf32>) -> tensor<?x323xf32>
    %xf = seq.slice %p {axis = 1, offset = 0, size = 192} : tensor<?x323xf32> -> tensor<?x192xf32>
    %x = seq.reshape %xf : tensor<?x192xf32> -> tensor<?x3x64xf32>
    %bf = seq.slice %p {axis = 1, offset = 192, size = 32} : tensor<?x323xf32> -> tensor<?x32xf32>
    %b = seq.reshape %bf : tensor<?x32xf32> -> tensor<?x1x32xf32>
    %cf = seq.slice %p {axis = 1, offset = 224, size = 32} : tensor<?x323xf32> -> tensor<?x32xf32>
    %c = seq.reshape %cf : tensor<?x32xf32> -> tensor<?x1x32xf32>
    %dt = seq.slice %p {axis = 1, offset = 320, size = 3} : tensor<?x323xf32> -> tensor<?x3xf32>
    %a_log = seq.parameter @a_log : tensor<3xf32>
    %dt_bias = seq.parameter @dt_bias : tensor<3xf32>
    %d = seq.parameter @d : tensor<3xf32>
    %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
        : (tensor<?x3x64xf32>, tensor<?x3xf32>, tensor<?x1x32xf32>, tensor<?x1x32xf32>),
          (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>), tensor<3x32x64xf32>
    %yf = seq.reshape %y : tensor<?x3x64xf32> -> tensor<?x192xf32>
    %selected = seq.select_rows %yf, %rows : (tensor<?x192xf32>, tensor<?xi32>) -> tensor<?x192xf32>
    %head = seq.parameter @head : tensor<61x192xf32>
    %l = seq.lm_head %selected, %head : (tensor<?x192xf32>, tensor<61x192xf32>) -> tensor<?x61xf32>
    return %l, %next : tensor<?x61xf32>, tensor<3x32x64xf32>
  }
}

// Kernel level: load, map, reduce, store, and no loop, since a sequence has one row.
// TILE: plan.entry @decode_1
// TILE: plan.launch @[[K:ssd_[0-9]+]]
// TILE: tile.kernel @[[K]](
// TILE-NOT: scf.for
// TILE: tile.reduce add

// NVVM: llvm.mlir.global external @[[S:.*_shared]]() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// NVVM: llvm.func @ssd_{{[0-9]+}}({{.*}}!llvm.ptr<1>
// NVVM-SAME: nvvm.kernel
// NVVM-SAME: nvvm.maxntid = array<i32: 64, 1, 1>
// NVVM-DAG: nvvm.read.ptx.sreg.tid.x
// NVVM-DAG: nvvm.read.ptx.sreg.ctaid.x
// NVVM-DAG: llvm.mlir.addressof @[[S]]
// NVVM: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// NVVM: nvvm.shfl.sync bfly
// NVVM: nvvm.barrier0

// The state moves 16 bytes at a time; the sums cross lanes, then warps.
// PTX: .target sm_80
// PTX: .visible .entry ssd_
// PTX: .maxntid 64
// PTX: ld.global{{.*}}.v4
// PTX: ex2.approx.ftz.f32
// PTX: shfl.sync.bfly
// PTX: st.shared
// PTX: bar.sync
// PTX: st.global.v4
