// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=seq --remarks=- 2>&1 >/dev/null | FileCheck %s
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=seq --remarks=%t --force-form=chunkwise:8 -o %t.mlir
// RUN: FileCheck %s --check-prefix=FORCED --input-file=%t
// RUN: FileCheck %s --check-prefix=FORM --input-file=%t.mlir
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=seq --remarks=- --no-bit-stable 2>&1 >/dev/null | FileCheck %s --check-prefix=FREE
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=tile --force-form=chunkwise:8 | FileCheck %s --check-prefix=GRID
// RUN: effc-compile %goldens/mamba2/f32_plain --target=sm_80 --compile-to=seq --remarks=- 2>&1 >/dev/null | FileCheck %s --check-prefix=ROW
// RUN: effc-compile %goldens/mamba2/f32_plain --target=sm_80 --compile-to=seq --remarks=- --bit-stable 2>&1 >/dev/null | FileCheck %s --check-prefix=STABLE

// Every choice is a remark of one line, which names the layers that it is alike in: by
// default the step in both kinds of entry. The last line counts them.
// CHECK-DAG: remark: layers.0-1.ssd: form in prefill_16: step, {{.*}}
// CHECK-DAG: remark: layers.0-1.ssd: form in decode_4: step, since each sequence has one token
// CHECK-DAG: remark: {{.*}}fused into kernel '{{.*}}' as its epilogue
// CHECK-NOT: {{^}}note
// CHECK: remark: in all 55: 20 forms, 2 fusions, 21 tensors, 12 others
// FORCED-DAG: remark: layers.0{{.*}}: form in prefill_256: chunkwise of 8, as asked
// FORCED-DAG: remark: layers.0{{.*}}: form in decode_1: step, since each sequence has one token
// FORM: func.func @prefill_16
// FORM: form = #seq.form<kind = chunkwise, chunk = 8>
// FORM: func.func @decode_1
// FORM: form = #seq.form<kind = step>
// FREE-NOT: for the same bits
// GRID: plan.entry @prefill_16 kind prefill rows 16 chunk 8
// ROW-DAG: remark: layers.0-1.norm: fused into kernel 'layers.0-1.in_proj' as its prologue
// ROW-DAG: remark: layers.0-1.conv: fused into kernel 'layers.0-1.in_proj' as its epilogue
// STABLE-NOT: fused into kernel 'layers.{{.*}}.in_proj'
// STABLE: fused into kernel 'layers.0-1.out_proj' as its epilogue
// STABLE-NOT: fused into kernel 'layers.{{.*}}.in_proj'
