// RUN: rm -rf %t && mkdir %t
// RUN: sed -n '/^```mlir$/,/^```$/p' %S/../../../dialects/seq/your_model.md | sed '/^```/d' > %t/leaky.mlir
// RUN: effc-opt %t/leaky.mlir | FileCheck %s
// RUN: effc compile %t/leaky.mlir --weights none --werror fallback -o %t/leaky.effc
// RUN: effc inspect %t/leaky.effc --state | FileCheck %s --check-prefix=STATE
// RUN: sed 's/%%next = seq.add \(.*\)/%%sum = seq.add \1\n%%next = seq.tanh %%sum : tensor<4x3x5xf32>/' %t/leaky.mlir > %t/tanh.mlir
// RUN: effc compile %t/tanh.mlir --weights none --max-batch 1 --prefill-rows 16 --remarks - -o %t/tanh.effc 2>&1 | FileCheck %s --check-prefix=TANH

// The model of the page that says how to write one, as it stands there, and the remark that the page shows.

// CHECK: func.func @forward(
// CHECK: seq.recurrence
// STATE: layers.0.leaky{{.*}}4x3x5{{.*}}240
// TANH: fallback: form in prefill_16: step, since it is not linear: 'seq.tanh' makes a next state of the state before otherwise than by decays and added products
