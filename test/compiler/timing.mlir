// RUN: rm -rf %t && mkdir %t
// RUN: effc-compile %goldens/mamba2/f32_plain -o %t/x --timing 2>&1 | FileCheck %s

// One report for the whole compilation, a line for each phase with its passes under
// it.
// CHECK-COUNT-1: Execution time report
// CHECK-NOT: Execution time report
// CHECK: import
// CHECK: seq
// CHECK: FormKernelsPass
// CHECK: tile
// CHECK: plan
// CHECK: binary
// CHECK: artifact
// CHECK: Total
