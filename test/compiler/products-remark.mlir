// RUN: effc-compile %S/../e2e/models/window.mlir --no-optimise --weights none --target host,sim_80,sim_90a --products exact --prefill-rows 16 --max-batch 1 -o %t.effc --remarks - 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: effc-compile %S/../e2e/models/window.mlir --weights none --target sim_80,sim_90a --products tf32 --prefill-rows 16 --max-batch 1 -o %t.effc --remarks - 2>&1 | FileCheck %s --check-prefix=TF32

// RUN: effc-compile %S/../e2e/models/window.mlir --no-optimise --weights none --target host,sim_80 --prefill-rows 16 --max-batch 1 -o %t.effc --remarks - 2>&1 | FileCheck %s --check-prefix=USUAL

// What products of a GPU make of their operands is said for each target; the host's
// have no choice.
// EXACT-NOT: products for host
// EXACT-DAG: products for sim_80 are as exact as f32: operands are split in up to three bf16{{$}}
// EXACT-DAG: products for sim_90a are as exact as f32
// EXACT: for host, sim_80 (exact products), sim_90a (exact products); a sequence takes

// USUAL-NOT: products for host
// USUAL: products for sim_80 round what they multiply to bf16, as public kernels do: --products f32 rounds nothing, for three to six times the instructions{{$}}
// USUAL: for host, sim_80 (products of bf16); a sequence takes

// TF32-DAG: products for sim_80 round what they multiply to tf32{{$}}
// TF32-DAG: products for sim_90a round what they multiply to tf32, but those of warp groups are exact, which takes them no longer{{$}}

// What is asked for in vain is a fallback: rounding rows where no weight is in bf16, or in
// panels. Blocks that have no panels are multiplied in f32.
// RUN: effc-compile %goldens/mamba2/f32_plain --no-optimise --weights none --target host,x86-64-v4-bf16 --products bf16 --prefill-rows 16 --max-batch 1 -o %t.effc 2>&1 | FileCheck %s --check-prefix=IDLE
// IDLE: effc: warning: {{.*}}products for x86-64-v4-bf16 round nothing: --products bf16 is for rows that weights in bf16 multiply, and there are none (--weights-type bf16){{$}}
// RUN: effc-compile %goldens/mamba2/f32_plain --no-optimise --weights none --target host,x86-64-v4-bf16 --products bf16 --weights-type bf16 --prefill-rows 16 --max-batch 1 -o %t.effc --werror fallback --remarks - 2>&1 | FileCheck %s --check-prefix=ROUNDED
// ROUNDED: products for x86-64-v4-bf16 round the rows that weights in bf16 multiply to bf16{{$}}
// RUN: not effc-compile %goldens/mamba2/f32_plain --no-optimise --weights none --target host --products int8 --prefill-rows 16 --max-batch 1 -o %t.effc --werror fallback 2>&1 | FileCheck %s --check-prefix=INTEGERS
// INTEGERS: effc: error: {{.*}}fallback: --products int8 rounds nothing: it is for rows that weights in panels multiply, and no weight has any (--weights-type q8_0, for one){{$}}
// RUN: effc-compile %goldens/mamba2/f32_plain --no-optimise --weights none --target host --products f32 --weights-type int4_8_bf16 --prefill-rows 16 --max-batch 1 -o %t.effc --werror fallback
// RUN: effc-compile %goldens/mamba2/f32_plain --no-optimise --weights none --target host --weights-type int4_8_bf16 --prefill-rows 16 --max-batch 1 -o %t.effc 2>&1 | FileCheck %s --check-prefix=UNPACKED
// UNPACKED: effc: warning: {{.*}}the host unpacks weights in int4_8_bf16 to f32, which takes longer than products of integers: only blocks of a multiple of 32 codes of small integers have panels{{$}}

// Where a host reads the same weights, they lie in no bundles.
// RUN: effc-compile %goldens/mamba2/f32_plain --no-optimise --weights none --target host,sim_90a --products f32 --weights-type int4_8_bf16 --prefill-rows 16 --max-batch 1 -o %t.effc 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: effc: warning: {{.*}}code for sim_90a reads weights in blocks by narrow loads, for up to twice as long in a step: wide ones need bundles, and code for the host, or the checkpoint's own files (--weights reference), have blocks; a file for GPUs alone with its weights has bundles{{$}}
