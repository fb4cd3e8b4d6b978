// What is not done as asked is said even where nobody asks for remarks, once for
// the whole compilation; where remarks are written they say it.
// RUN: effc compile %S/../e2e/models/cell.mlir --no-optimise --weights none --max-batch 1 --prefill-rows 16 --force-form quadratic -o %t.effc 2>&1 | FileCheck %s
// RUN: effc compile %S/../e2e/models/cell.mlir --no-optimise --weights none --max-batch 1 --prefill-rows 16 --force-form quadratic -o %t.effc --remarks - 2>&1 | FileCheck %s --check-prefix=REMARKS
// RUN: effc compile %S/../e2e/models/window.mlir --no-optimise --weights none --max-batch 1 --prefill-rows 16,32,48 --force-form chunkwise:8 -o %t.effc 2>&1 | FileCheck %s --check-prefix=ENTRIES
// RUN: effc compile %S/../e2e/models/window.mlir --no-optimise --weights none --max-batch 1 --prefill-rows 16 -o %t.effc 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=effc:

// CHECK: effc: warning: {{.*}}cell.mlir:{{[0-9:]+}}: form in prefill_16: step, since it is not linear: {{.*$}}
// CHECK-NEXT: effc: note: 1 choice is not what was asked for or not the fast one: see '--remarks -'
// CHECK-NEXT: {{^.*}}.effc: {{.*}} parameters, without weights, for host, x86-64-v4-vnni; a sequence takes {{.*$}}
// CHECK-NOT: {{.}}
// NONE: {{^.*}}.effc: {{.*}} parameters, without weights, for host, x86-64-v4-vnni; a sequence takes {{.*$}}
// Entries that differ in nothing but their names share a line.
// ENTRIES: effc: warning: {{.*}}: form in prefill_16, prefill_32, prefill_48: chunkwise in blocks of at most 32 keys instead of chunkwise of 8, which no kernel of this class computes{{$}}
// ENTRIES-NEXT: effc: note: 3 choices are not what was asked for or not the fast one: see '--remarks -'
// REMARKS: remark: {{.*}}fallback:
// REMARKS-NOT: effc: note:
