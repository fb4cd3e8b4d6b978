// RUN: effc-compile %S/../e2e/models/window.mlir --weights none --target host,sim_80,sim_90a --products exact --prefill-rows 16 --max-batch 1 -o %t.effc --remarks - 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: effc-compile %S/../e2e/models/window.mlir --weights none --target sim_80,sim_90a --products tf32 --prefill-rows 16 --max-batch 1 -o %t.effc --remarks - 2>&1 | FileCheck %s --check-prefix=TF32

// RUN: effc-compile %S/../e2e/models/window.mlir --weights none --target host,sim_80 --prefill-rows 16 --max-batch 1 -o %t.effc --remarks - 2>&1 | FileCheck %s --check-prefix=USUAL

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
