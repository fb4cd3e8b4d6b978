// RUN: rm -rf %t && mkdir %t
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=import | FileCheck %s --check-prefix=IMPORT
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=seq --prefill-rows=8,32 --max-batch=3 | FileCheck %s --check-prefix=SEQ
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=tile -o %t/tile.mlir
// RUN: FileCheck %s --check-prefix=TILE --input-file=%t/tile.mlir
// RUN: effc-opt %t/tile.mlir -o /dev/null
// RUN: effc compile %goldens/mamba2/f32_plain --compile-to=plan | FileCheck %s --check-prefix=PLAN
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=binary --target host -o - | FileCheck %s --check-prefix=BINARY
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=artifact -o %t/a.effc --dump-phases=%t/dump | count 0
// RUN: effc-compile %goldens/mamba2/f32_plain -o %t/b.effc | count 0
// RUN: cmp %t/a.effc %t/b.effc
// RUN: ls %t/dump | FileCheck %s --check-prefix=DUMP
// RUN: diff %t/dump/20-tile.mlir %t/tile.mlir
// RUN: effc inspect %t/a.effc | FileCheck %s --check-prefix=INSPECT

// Each phase of a checkpoint's compilation ends with a module that can be printed,
// and read again. Decode entries have 1, 2, 4, ... rows, the last as many as asked.

// IMPORT: func.func @forward(
// IMPORT-NOT: seq.kernel
// SEQ: func.func @prefill_8(
// SEQ: seq.kernel
// SEQ: func.func @prefill_32(
// SEQ: func.func @decode_1(
// SEQ: func.func @decode_2(
// SEQ: func.func @decode_3(
// SEQ-NOT: func.func
// TILE: plan.entry @prefill_16 kind prefill rows 16 chunk 1 {
// TILE: tile.kernel @ssd_
// PLAN: plan.entry @prefill_16 kind prefill rows 16 chunk 1 arena
// PLAN: tile.kernel
// BINARY-NOT: tile.kernel
// BINARY: plan.binary @host
// DUMP: 00-import.mlir
// DUMP-NEXT: 10-seq.mlir
// DUMP-NEXT: 20-tile.mlir
// DUMP-NEXT: 30-plan.mlir
// DUMP-NEXT: 40-binary.mlir
// DUMP-NOT: {{.}}
// INSPECT: mamba2
