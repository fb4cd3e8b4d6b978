// RUN: effc-opt %s --pass-pipeline='builtin.module(effc-phase-seq,effc-phase-tile)' > %t.tile.mlir 2> /dev/null
// RUN: FileCheck %s --check-prefix=TILE --input-file %t.tile.mlir
// RUN: effc-opt %t.tile.mlir --effc-nvptx-kernels > %t.nvvm.mlir
// RUN: effc-opt %t.nvvm.mlir --nvptx-emit-ptx=output=%t.ptx -o /dev/null
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_80 -Werror %t.ptx -o %t.cubin %}

// A product of one row with a weight in bundles of 16 blocks: 512 bytes of codes, then
// 16 scales. A thread loads the codes of eight neighbours at once and the scale that they
// share, in place of nine loads of a byte or two from blocks of 34 bytes.
!q8_0 = !storage.block<"q8_0", elements = 32, bytes = 34, digits = [32],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
module attributes {
    seq.model = #seq.model<family = "any", vocabulary = 61, width = 1024, max_context = 0>,
    tile.target = #tile.target<nvptx, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        bundle = 512, cpu = "sm_80", features = "+ptx80", vector = 32, registers = 255, step_rate = 60,
        dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
  seq.weight @embeddings source("embeddings") : tensor<61x1024xf32>
  seq.weight @head source("head") : tensor<61x1024x!q8_0>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x61xf32> {
    %e = seq.parameter @embeddings : tensor<61x1024xf32>
    %x = seq.embedding %tokens, %e : (tensor<?xi32>, tensor<61x1024xf32>) -> tensor<?x1024xf32>
    %w = seq.parameter @head : tensor<61x1024x!q8_0>
    %xr = seq.select_rows %x, %rows : (tensor<?x1024xf32>, tensor<?xi32>) -> tensor<?x1024xf32>
    %logits = seq.lm_head %xr, %w : (tensor<?x1024xf32>, tensor<61x1024x!q8_0>) -> tensor<?x61xf32>
    return %logits : tensor<?x61xf32>
  }
}

// TILE: !q8_0_1 = !storage.block<"q8_0", elements = 512, bytes = 544,
// TILE: plan.entry @decode_1 kind decode
// TILE: plan.launch @[[K:lm_head_[0-9]+]]({{.*}} only_for logits
// TILE: tile.kernel @[[K]]({{.*}}!tile.view<61x1024x!q8_0_1

// Blocks beside one another on a core: 65,536 registers, 96 for each of 128 threads.
// PTX: .entry lm_head_6(
// PTX: .maxntid 128, 1, 1
// PTX-NEXT: .minnctapersm 5
// PTX-NOT: ld.global.b8
// PTX: ld.global.v2.b32
// PTX-NOT: ld.global.b8
// PTX: ld.global.b16 {{.*}}+512]
// A signed code counts from the least one; each of a word's four is the second byte of an
// f32, and one multiply-add makes it a number.
// PTX: xor.b32 {{.*}}, -2139062144;
// PTX: prmt.b32 {{.*}}, 1191182336, 0x7504U;
// PTX: fma.rn.f32
// PTX-NOT: ld.global.b8
// PTX: .entry
