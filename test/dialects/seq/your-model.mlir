// RUN: rm -rf %t && mkdir %t
// RUN: sed -n '/^```mlir$/,/^```$/p' %S/../../../dialects/seq/your_model.md | sed '/^```/d' > %t/leaky.mlir
// RUN: effc-opt %t/leaky.mlir | FileCheck %s
// RUN: %S/../../../tools/random_weights.py %t/leaky.mlir %t/weights
// RUN: effc compile %t/leaky.mlir --weights-from %t/weights --werror fallback --remarks - -o %t/leaky.effc 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: effc verify %t/leaky.effc --no-compile
// RUN: effc run %t/leaky.effc --tokens 3,1,4 -n 20 --temperature 1 --print-tokens | FileCheck %s --check-prefix=TOKENS
// RUN: effc inspect %t/leaky.effc --state | FileCheck %s --check-prefix=STATE
// RUN: sed 's/%%next = seq.add \(.*\)/%%sum = seq.add \1\n%%next = seq.tanh %%sum : tensor<4x3x5xf32>/' %t/leaky.mlir > %t/tanh.mlir
// RUN: effc compile %t/tanh.mlir --weights none --max-batch 1 --prefill-rows 16 --remarks - -o %t/tanh.effc 2>&1 | FileCheck %s --check-prefix=TANH

// The model of the page that says how to write one, as it stands there, the page's commands, and the remarks that it shows.

// CHECK: func.func @forward(
// CHECK: seq.recurrence
// REMARK: remark: {{.*}}leaky.mlir:32:15: form in prefill_16: step, 3 cycles per token and head; others would take 46 (chunkwise of 16),
// TOKENS: {{^([0-9]+,){19}[0-9]+$}}
// STATE: layers.0.leaky{{.*}}4x3x5{{.*}}240
// TANH: remark: {{.*}}tanh.mlir:32:15: fallback: form in prefill_16: step, since it is not linear: 'seq.tanh' makes a next state of the state before otherwise than by decays and added products
