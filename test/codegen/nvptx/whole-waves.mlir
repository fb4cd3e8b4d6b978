// RUN: effc-opt %s --pass-pipeline='builtin.module(seq-form-kernels,effc-phase-tile)' -o %t.tile.mlir
// RUN: effc-opt %t.tile.mlir --effc-nvptx-kernels -o %t.nvvm.mlir
// RUN: FileCheck %s --input-file %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_80 -Werror %t.ptx -o %t.cubin %}
// RUN: sed 's/schedulers = 4>/schedulers = 4, blocks = 8>/' %s | effc-opt --pass-pipeline='builtin.module(seq-form-kernels,effc-phase-tile)' | effc-opt --effc-nvptx-kernels | FileCheck %s --check-prefix=EIGHT

// Products of a single row. Threads, of which a block has 128, hold 8 elements of the row
// in a step, and 24 + 8 registers of each leave a core 16 blocks. There are 4 cores.
// - 268 outputs are 67 blocks of 4, 17 of a core. In two waves these are 9, whose threads
//   have 65536 / (9 x 128) registers each, in eights: 56.
// - 256 outputs are 64 blocks, 16 of a core: one wave of threads with 32.
// Where a core takes no more than 8, these are three waves of 6, and two of 8.
// - 3 outputs are 3 blocks, which do not fill the cores: the assembler decides, as for
//   rows of a prompt, which are a matrix.
module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        cpu = "sm_80", features = "+ptx80", vector = 32, registers = 255, step_rate = 60,
        dot_rate = 300, cores = 4, bandwidth = 54, rereads = 48>} {
  seq.weight @embeddings source("embeddings") : tensor<61x2048xf32>
  seq.weight @two_waves source("two_waves") : tensor<268x2048xbf16>
  seq.weight @one_wave source("one_wave") : tensor<256x2048xbf16>
  seq.weight @few source("few") : tensor<3x2048xbf16>
  seq.weight @prompt source("prompt") : tensor<260x2048xbf16>

  // CHECK: llvm.func @linear_1({{.*}} nvvm.maxnreg = 56 : i32
  // EIGHT: llvm.func @linear_1({{.*}} nvvm.maxnreg = 80 : i32
  // PTX: .entry linear_1(
  // PTX: .maxntid 128
  // PTX-NEXT: .maxnreg 56
  func.func @of_two_waves(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x268xf32>
      attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
    %e = seq.parameter @embeddings : tensor<61x2048xf32>
    %w = seq.parameter @two_waves : tensor<268x2048xbf16>
    %x = seq.embedding %tokens, %e : (tensor<?xi32>, tensor<61x2048xf32>) -> tensor<?x2048xf32>
    %y = seq.linear %x, %w : (tensor<?x2048xf32>, tensor<268x2048xbf16>) -> tensor<?x268xf32>
    return %y : tensor<?x268xf32>
  }

  // CHECK: llvm.func @linear_2({{.*}} nvvm.maxnreg = 32 : i32
  // EIGHT: llvm.func @linear_2({{.*}} nvvm.maxnreg = 64 : i32
  func.func @of_one_wave(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x256xf32>
      attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
    %e = seq.parameter @embeddings : tensor<61x2048xf32>
    %w = seq.parameter @one_wave : tensor<256x2048xbf16>
    %x = seq.embedding %tokens, %e : (tensor<?xi32>, tensor<61x2048xf32>) -> tensor<?x2048xf32>
    %y = seq.linear %x, %w : (tensor<?x2048xf32>, tensor<256x2048xbf16>) -> tensor<?x256xf32>
    return %y : tensor<?x256xf32>
  }

  // CHECK: llvm.func @linear_3(
  // CHECK-NOT: nvvm.maxnreg
  func.func @of_few(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x3xf32>
      attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
    %e = seq.parameter @embeddings : tensor<61x2048xf32>
    %w = seq.parameter @few : tensor<3x2048xbf16>
    %x = seq.embedding %tokens, %e : (tensor<?xi32>, tensor<61x2048xf32>) -> tensor<?x2048xf32>
    %y = seq.linear %x, %w : (tensor<?x2048xf32>, tensor<3x2048xbf16>) -> tensor<?x3xf32>
    return %y : tensor<?x3xf32>
  }

  // CHECK: llvm.func @linear_5(
  // CHECK-NOT: nvvm.maxnreg
  func.func @of_prompt(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x260xf32>
      attributes {seq.entry = #seq.entry<kind = prefill, rows = 64>} {
    %e = seq.parameter @embeddings : tensor<61x2048xf32>
    %w = seq.parameter @prompt : tensor<260x2048xbf16>
    %x = seq.embedding %tokens, %e : (tensor<?xi32>, tensor<61x2048xf32>) -> tensor<?x2048xf32>
    %y = seq.linear %x, %w : (tensor<?x2048xf32>, tensor<260x2048xbf16>) -> tensor<?x260xf32>
    return %y : tensor<?x260xf32>
  }
}
