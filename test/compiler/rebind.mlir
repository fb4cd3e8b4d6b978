// Compiled files with code for GPUs, and of rounded weights, are rebound: the bytes
// are those of compiling the other weights, and nothing is assembled.
// RUN: rm -rf %t && mkdir -p %t/bin
// RUN: python3 %S/../../tools/random_weights.py %S/../e2e/models/hybrid.mlir %t/a
// RUN: python3 %S/../../tools/random_weights.py %S/../e2e/models/hybrid.mlir %t/b --seed 1
// RUN: effc-compile %S/../e2e/models/hybrid.mlir --weights-from %t/a -o %t/a.effc --target host,sim_80%if ptxas %{,sm_90a%} --prefill-rows 16 --max-batch 2 --no-optimise
// RUN: effc-compile %S/../e2e/models/hybrid.mlir --weights-from %t/b -o %t/b.effc --target host,sim_80%if ptxas %{,sm_90a%} --prefill-rows 16 --max-batch 2 --no-optimise
// RUN: not cmp -s %t/a.effc %t/b.effc
// RUN: printf '#!/bin/sh\nexit 1\n' > %t/bin/ptxas && chmod +x %t/bin/ptxas && cp %t/bin/ptxas %t/bin/ld.lld && cp %t/bin/ptxas %t/bin/ld.lld-22
// RUN: env PATH=%t/bin CUDA_HOME=%t CUDA_PATH=%t effc-rebind %t/a.effc %S/../e2e/models/hybrid.mlir --weights-from %t/b -o %t/bound.effc 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: cmp %t/bound.effc %t/b.effc
// SAID: bound.effc: {{.*}}, 5,352 parameters, 7 of 8 weights are new, in {{.*}} s{{$}}

// Weights rounded by importance are rounded by it again, by a file that is given again.
// RUN: sh -c '{ printf "\001\000\000\000\023\000\000\000blk.0.attn_q.weight\001\000\000\000\040\000\000\000"; for i in $(seq 32); do printf "\000\000\200\077"; done; } > %t/one.dat'
// RUN: effc-compile %goldens/families/qwen2/windows_above -o %t/rounded.effc --weights-type q4_0 --importance %t/one.dat --no-optimise 2>/dev/null
// RUN: effc-rebind %t/rounded.effc %goldens/families/qwen2/windows_above --importance %t/one.dat -o %t/again.effc 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: again.effc: {{.*}} 0 of {{[0-9]+}} weights are new
// RUN: cmp %t/again.effc %t/rounded.effc
// RUN: not effc-rebind %t/rounded.effc %goldens/families/qwen2/windows_above -o %t/none.effc 2>&1 | FileCheck %s --check-prefix=LACKS
// LACKS: effc: error: '{{.*}}rounded.effc' has weights rounded by the importance of 'one.dat': expects such a file for the new ones, the same or another (--importance)
// RUN: not effc-rebind %t/bound.effc %S/../e2e/models/hybrid.mlir --weights-from %t/b -o %t/none.effc --importance %t/one.dat 2>&1 | FileCheck %s --check-prefix=UNASKED
// UNASKED: effc: error: '{{.*}}bound.effc' has weights rounded without importance, but got --importance {{.*}}one.dat

// What is no file of this compiler, or cannot be compared, is told.
// RUN: effc-compile %goldens/mamba2/f32_plain -o %t/stripped.effc --strip-ir --no-optimise 2>/dev/null
// RUN: not effc-rebind %t/stripped.effc %goldens/mamba2/f32_plain -o %t/none.effc 2>&1 | FileCheck %s --check-prefix=STRIPPED
// STRIPPED: effc: error: '{{.*}}stripped.effc' cannot get other weights: it was compiled with --strip-ir, so that no model can be compared with its own
// RUN: effc-compile %goldens/mamba2/f32_plain -o %t/shapes.effc --weights none --no-optimise 2>/dev/null
// RUN: not effc-rebind %t/shapes.effc %goldens/mamba2/f32_plain -o %t/none.effc 2>&1 | FileCheck %s --check-prefix=SHAPES
// SHAPES: effc: error: '{{.*}}shapes.effc' cannot get other weights: it has none, since it was compiled with --weights none
// RUN: sh -c 'head -c 9000 %t/bound.effc > %t/cut.effc'
// RUN: not effc-rebind %t/cut.effc %goldens/mamba2/f32_plain -o %t/none.effc 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: effc: error: '{{.*}}cut.effc': it is cut short
// RUN: not effc-rebind %s %goldens/mamba2/f32_plain -o %t/none.effc 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: effc: error: '{{.*}}rebind.mlir': not an effc artifact: it does not start with "EFFC"
// RUN: not effc-rebind %t/bound.effc %goldens/mamba2/f32_plain -o %t/none.effc 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: effc: error: '{{.*}}f32_plain' is not the model that the file was compiled from, weights aside: expects '{{.*}}', but got '{{.*}}'
// RUN: test ! -e %t/none.effc

// Nor is anything written over the new weights.
// RUN: cp %t/b/model.safetensors %t/kept
// RUN: not effc-rebind %t/a.effc %S/../e2e/models/hybrid.mlir --weights-from %t/b -o %t/b/model.safetensors 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: effc: error: cannot write {{.*}}/b/model.safetensors: it is a file of the model
// RUN: cmp %t/b/model.safetensors %t/kept

// RUN: not effc-rebind %t/a.effc %S/../e2e/models/hybrid.mlir --weights-from %t/b -o - 2>&1 | FileCheck %s --check-prefix=STDOUT
// STDOUT: effc: error: an artifact needs a file: -o OUT.effc

// RUN: sh -c 'effc-rebind %t/a.effc %t/b; echo status $?' 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: effc: error: --output is required
// USAGE: status 2
// RUN: effc rebind --help | FileCheck %s --check-prefix=HELP
// HELP: usage: effc rebind FILE MODEL [options]
// HELP: Examples:
// HELP-NEXT: effc rebind model.effc path/to/checkpoint-200 -o step-200.effc
