// What a phase has written leads to the same file, byte for byte, whichever it is.
// RUN: rm -rf %t && mkdir %t
// RUN: effc-compile %goldens/mamba2/f32_plain -o %t/whole.effc --target host,sm_90a --prefill-rows 16 --max-batch 1 --dump-phases %t/dump
// RUN: sh -c 'for phase in import seq tile plan binary; do effc-compile %goldens/mamba2/f32_plain -o %t/$phase.effc --target host,sm_90a --prefill-rows 16 --max-batch 1 --compile-from $phase --phases %t/dump && cmp %t/whole.effc %t/$phase.effc || exit 1; done'

// effc-opt reads the target in the module as well: a phase gives what it gave there. Behind the last line it prints an empty one.
// RUN: sh -c 'for target in host sm_90a; do effc-opt %t/dump/$target/10-seq.mlir --effc-phase-tile 2>%t/remarks | diff -B - %t/dump/$target/20-tile.mlir || exit 1; done'
// RUN: sh -c 'for target in host sm_90a; do effc-opt %t/dump/$target/20-tile.mlir --effc-phase-plan | diff -B - %t/dump/$target/30-plan.mlir || exit 1; done'

// What somebody has changed is what goes on: here the text of a note.
// RUN: effc-compile %goldens/mamba2/f32_plain --prefill-rows 16 --max-batch 1 --compile-to plan --dump-phases %t/host -o %t/plan.mlir
// RUN: sed -i 's/"layers.1.ssd"/"changed by hand"/' %t/host/20-tile.mlir
// RUN: effc-compile %goldens/mamba2/f32_plain --prefill-rows 16 --max-batch 1 --compile-to plan --compile-from tile --phases %t/host | FileCheck %s --check-prefix=CHANGED
// CHANGED: "changed by hand"

// A module of another target, or made by other options, is refused: later phases read the target in it.
// RUN: not effc-compile %goldens/mamba2/f32_plain -o %t/x.effc --prefill-rows 16 --max-batch 1 --compile-from tile --phases %t/dump/sm_90a 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: effc: error: {{.*}}/sm_90a/20-tile.mlir was made for another target or by other options: expects #tile.target<host, {{.*}}>, but got #tile.target<nvptx, {{.*}}>
// RUN: not effc-compile %goldens/mamba2/f32_plain -o %t/x.effc --compile-from plan --phases %t/dump 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: effc: error: there is no {{.*}}/dump/30-plan.mlir: --dump-phases, with the same targets, writes it
// RUN: sh -c 'echo "module {" >%t/host/30-plan.mlir'
// RUN: not effc-compile %goldens/mamba2/f32_plain -o %t/x.effc --compile-from plan --phases %t/host 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: effc: error: {{.*}}30-plan.mlir
// RUN: not test -e %t/x.effc

// Nor is the module that is gone on from written over.
// RUN: not effc-compile %goldens/mamba2/f32_plain --prefill-rows 16 --max-batch 1 --compile-to plan -o %t/host/20-tile.mlir --compile-from tile --phases %t/host 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: effc: error: cannot write {{.*}}/host/20-tile.mlir: it is a file of the model
// RUN: effc-compile %goldens/mamba2/f32_plain --prefill-rows 16 --max-batch 1 --compile-to plan -o %t/again.mlir --compile-from tile --phases %t/host --dump-phases %t/host
// RUN: cmp %t/again.mlir %t/host/30-plan.mlir

// RUN: not effc-compile a -o b --compile-from artifact --phases c 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: --compile-from expects import, seq, tile, plan or binary, but got 'artifact'
// RUN: not effc-compile a --compile-to seq --compile-from tile --phases c 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: --compile-from tile begins behind phase 'tile', but --compile-to seq ends with or before it
// RUN: not effc-compile a -o b --compile-from tile 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: --compile-from requires --phases
