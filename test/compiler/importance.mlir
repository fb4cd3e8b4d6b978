// Weights rounded by how much each input counts: a file of the older kind, which has one
// matrix of the model, of 32 inputs that all count the same.
// RUN: rm -rf %t && mkdir %t
// RUN: sh -c '{ printf "\001\000\000\000\023\000\000\000blk.0.attn_q.weight\001\000\000\000\040\000\000\000"; for i in $(seq 32); do printf "\000\000\200\077"; done; } > %t/one.dat'
// RUN: effc-compile %goldens/families/qwen2/windows_above --no-optimise -o %t/x.effc --weights-type q4_0 --importance %t/one.dat --remarks - --report-weights 2>&1 | FileCheck %s
// CHECK: remark: import: importance of 1 matrices is that of 'one.dat'
// CHECK: remark: import: matrix 'embeddings' is rounded without importance, since 'one.dat' has none of it
// CHECK: remark: import: fallback: matrix 'layers.0-1.attention.key' is rounded without importance, since 'one.dat' has none of it
// CHECK: by importance
// CHECK-DAG: layers.0.attention.query {{ *f32  q4_0 .* [0-9.]+e-0[0-9] +[0-9.]+e-0[0-9] }}
// CHECK-DAG: layers.0.attention.key {{ *f32  q4_0 .* [0-9.]+e-0[0-9] +- }}

// RUN: not effc-compile %goldens/families/opt/without_biases -o %t/none.effc --weights-type q4_0 --importance %t/one.dat 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: effc: error: one.dat: has no matrix of this model: it has 'blk.0.attn_q.weight' and the like, the model '{{.*}}'
// RUN: not effc-compile %goldens/sample -o %t/none.effc --weights-type q8_0 --importance %t/one.dat 2>&1 | FileCheck %s --check-prefix=HEEDLESS
// HEEDLESS: effc: error: importance changes nothing: no matrix gets a type whose rounding heeds it, as q4_k does and q8_0 does not (--weights-type)
// RUN: not effc-compile %goldens/sample -o %t/none.effc --weights-type q4_0 --importance %s 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: effc: error: importance.mlir: {{.*}}: expects what llama-imatrix writes, a GGUF file or one of the older kind
// RUN: test ! -e %t/none.effc

// RUN: sh -c 'effc-compile a -o %t/none.effc --importance %s; echo status $?' 2>&1 | FileCheck %s --check-prefix=NOTYPE
// NOTYPE: effc: error: --importance says how weights are rounded, but nothing rounds them: expects --weights-type too, such as q4_k_m
// NOTYPE: status 2
// RUN: sh -c 'effc-compile a -o %t/none.effc --weights-type q4_0 --weights none --importance %s; echo status $?' 2>&1 | FileCheck %s --check-prefix=NOWEIGHTS
// NOWEIGHTS: effc: error: --importance says how weights are rounded, but --weights none writes none
// NOWEIGHTS: status 2
// RUN: sh -c 'effc-compile a -o %t/none.effc --weights-type q4_0 --importance %t/missing; echo status $?' 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: effc: error: --importance: File does not exist: {{.*}}/missing
// MISSING: status 2

// Nor is anything written over the file.
// RUN: cp %t/one.dat %t/kept
// RUN: not effc-compile %goldens/families/qwen2/windows_above -o %t/one.dat --weights-type q4_0 --importance %t/one.dat 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: effc: error: cannot write {{.*}}/one.dat: it is a file of the model
// RUN: cmp %t/one.dat %t/kept
