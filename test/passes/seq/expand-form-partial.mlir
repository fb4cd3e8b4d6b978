// RUN: effc-opt %s --seq-expand-form="form=quadratic partial" 2>&1 | FileCheck %s
// RUN: not effc-opt %s --seq-expand-form=form=quadratic 2>&1 | FileCheck %s --check-prefix=WHOLE

// A step that squashes its state runs token by token and nothing else; the retention beside it has every form.

// CHECK: remark: stays as it is: 'seq.recurrence' op has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'
// CHECK-LABEL: func.func @squashed
// CHECK-NOT: seq.retention
// CHECK: seq.recurrence
// CHECK-NOT: seq.retention
// WHOLE: error: 'seq.recurrence' op has no derived form
func.func @squashed(%q: tensor<7x6x3xf32>, %k: tensor<7x6x3xf32>, %x: tensor<7x6x5xf32>, %g: tensor<6xf32>, %s: tensor<6x3x5xf32>, %u: tensor<6x5xf32>)
    -> (tensor<7x6x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>) {
  %r, %n = "seq.retention"(%q, %k, %x, %g, %s) : (tensor<7x6x3xf32>, tensor<7x6x3xf32>, tensor<7x6x5xf32>, tensor<6xf32>, tensor<6x3x5xf32>)
      -> (tensor<7x6x5xf32>, tensor<6x3x5xf32>)
  %y, %last = seq.recurrence tokens(%xt = %r : tensor<7x6x5xf32>) parameters() states(%st = %u : tensor<6x5xf32>)
      -> (tensor<7x6x5xf32>), (tensor<6x5xf32>) {
    %sum = seq.add %xt, %st : tensor<6x5xf32>
    %new = seq.tanh %sum : tensor<6x5xf32>
    seq.yield %new, %new : tensor<6x5xf32>, tensor<6x5xf32>
  }
  return %y, %n, %last : tensor<7x6x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>
}
