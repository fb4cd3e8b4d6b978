// RUN: rm -rf %t && mkdir %t

// Wrong usage is one line and status 2, a compilation that fails status 1; neither
// leaves a file. `sh` hands out the status.

// RUN: sh -c 'effc-compile; echo status $?' 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: effc: error: MODEL is required{{$}}
// MODEL-NEXT: status 2
// RUN: sh -c 'effc-compile a --target moon -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: effc: error: unknown target 'moon'; this compiler knows: host{{$}}
// TARGET-NEXT: status 2
// RUN: sh -c 'effc-compile a --compile-to=moon; echo status $?' 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: effc: error: unknown phase 'moon'; phases are import, seq, tile, plan, binary, artifact{{$}}
// PHASE-NEXT: status 2
// RUN: sh -c 'effc-compile a; echo status $?' 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: effc: error: an artifact needs a file: -o OUT.effc{{$}}
// OUTPUT-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --prefill-rows=64,16; echo status $?' 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: effc: error: --prefill-rows expects ascending numbers{{$}}
// ROWS-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --prefill-rows=0; echo status $?' 2>&1 | FileCheck %s --check-prefix=NOROWS
// NOROWS: effc: error: --prefill-rows: Value 0 not in range
// NOROWS-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --moon; echo status $?' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: effc: error: The following argument was not expected: --moon{{$}}
// OPTION-NEXT: status 2
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o %t/x --force-form=moon; echo status $?' 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: effc: error: --force-form: expects step, quadratic or chunkwise[:C] with C in 1..1024, but got 'moon'{{$}}
// FORM-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --force-form=chunkwise:0; echo status $?' 2>&1 | FileCheck %s --check-prefix=CHUNK
// CHUNK: effc: error: --force-form: expects step, {{.*}} but got 'chunkwise:0'{{$}}
// CHUNK-NEXT: status 2
// RUN: sh -c 'effc-compile a -o %t/x --force-form=step:4; echo status $?' 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: effc: error: --force-form: expects step, {{.*}} but got 'step:4'{{$}}
// STEP-NEXT: status 2
// RUN: sh -c 'effc-compile %t/none -o %t/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: effc: error: {{.*}}none
// NONE-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o %t/none/x; echo status $?' 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: effc: error: {{.*}}none/x
// FOLDER-NEXT: status 1
// RUN: sh -c 'effc-compile %goldens/mamba2/f32_plain -o %t/x --remarks=%t/none/r; echo status $?' 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS: effc: error: cannot write {{.*}}none/r: {{.*}}
// REMARKS-NEXT: status 1
// RUN: sh -c 'effc-compile %s --compile-to=import; echo status $?' 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: effc: error: {{.*}}
// EMPTY-NEXT: status 1
// RUN: ls %t | count 0
