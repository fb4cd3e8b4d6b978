// RUN: effc-opt %s --seq-expand-form=form=quadratic 2>&1 | FileCheck %s

// Tokens that do not meet have no forms, so that a step without a state is neither an error nor remarked on; the
// retention beside it is expanded.

// CHECK-NOT: has no derived form
// CHECK-LABEL: func.func @stateless
// CHECK: seq.recurrence
// CHECK-NOT: seq.retention
func.func @stateless(%q: tensor<7x6x3xf32>, %k: tensor<7x6x3xf32>, %x: tensor<7x6x5xf32>, %g: tensor<6xf32>, %s: tensor<6x3x5xf32>)
    -> (tensor<7x6x5xf32>, tensor<6x3x5xf32>) {
  %v = seq.recurrence tokens(%xt = %x : tensor<7x6x5xf32>) parameters() states() -> (tensor<7x6x5xf32>), () {
    %new = seq.tanh %xt : tensor<6x5xf32>
    seq.yield %new : tensor<6x5xf32>
  }
  %r, %n = "seq.retention"(%q, %k, %v, %g, %s) : (tensor<7x6x3xf32>, tensor<7x6x3xf32>, tensor<7x6x5xf32>, tensor<6xf32>, tensor<6x3x5xf32>)
      -> (tensor<7x6x5xf32>, tensor<6x3x5xf32>)
  return %r, %n : tensor<7x6x5xf32>, tensor<6x3x5xf32>
}
