// RUN: effc-opt %s --seq-size-context=positions=40 --verify-diagnostics
// RUN: not effc-opt %s --seq-size-context=positions=-3 2>&1 | FileCheck %s

// A bound that nobody carries to the runtime, and one that is no number of positions.

// CHECK: error: expects 'positions' of at least 0, but got -3
// expected-error @+1 {{expects 'seq.model' on the module}}
module {
func.func @forward(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %p: tensor<?xi32>,
                   %keys: tensor<9x2x4xf32> {seq.state_name = "keys"},
                   %values: tensor<9x2x3xf32> {seq.state_name = "values"})
    -> (tensor<9x2x4xf32>, tensor<9x2x3xf32>) {
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?xi32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>)
        -> (tensor<?x6x3xf32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>)
  return %a, %b : tensor<9x2x4xf32>, tensor<9x2x3xf32>
}
}
