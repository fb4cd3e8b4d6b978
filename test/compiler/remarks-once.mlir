// RUN: effc-compile %S/../e2e/models/window.mlir --no-optimise --weights none --target host,sim_80 --products exact --prefill-rows 16,64 --max-batch 4 -o %t.effc --remarks %t.txt
// RUN: FileCheck %s --input-file=%t.txt
// RUN: sort %t.txt | uniq -d | count 0
// RUN: effc-compile %S/../e2e/models/window.mlir --no-optimise --weights none --target host,sim_80 --products exact --prefill-rows 16,64 --max-batch 4 -o %t.effc --remarks - 2>&1 | grep "^remark: " | grep -v "^remark: in all 15: 5 forms, 7 fusions, 3 others" | diff - %t.txt

// Two targets with five entries each fuse the same ops in the same way, which is
// said once for each op; what is said of an entry by name stays. What one of them does
// alone names it. On standard error a summary follows.
// CHECK-DAG: window.mlir:37:36: form in prefill_16:
// CHECK-DAG: window.mlir:37:36: form in prefill_64:
// CHECK-DAG: window.mlir:37:36: form in decode_2:
// CHECK-DAG: window.mlir:43:10: fused into kernel 'linear' as its epilogue
// CHECK-DAG: window.mlir:46:10: fused into kernel 'linear' as its epilogue
// CHECK-DAG: window.mlir:27:10 (sim_80): fused into kernel 'linear' as its prologue
