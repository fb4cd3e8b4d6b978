// RUN: effc-opt %s --seq-size-context=positions=40 | FileCheck %s

// A table of 9 positions that one op hands on to another: both get its two blocks of 32 rows.

module attributes {seq.model = #seq.model<family = "mine", vocabulary = 11, width = 6, max_context = 0>} {
// CHECK-LABEL: func.func @forward
// CHECK-SAME: tensor<64x2x4xf32> {seq.state_name = "keys"}, %{{[^:]+}}: tensor<64x2x3xf32>
// CHECK-SAME: -> (tensor<?x6x3xf32>, tensor<64x2x4xf32>, tensor<64x2x3xf32>)
// CHECK: %{{[^,]+}}, %[[KEYS:[^,]+]], %[[VALUES:[^ ]+]] = seq.attention
// CHECK: seq.attention {{.*}} states(%[[KEYS]], %[[VALUES]])
// CHECK-SAME: -> (tensor<?x6x3xf32>, tensor<64x2x4xf32>, tensor<64x2x3xf32>)
func.func @forward(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %p: tensor<?xi32>,
                   %keys: tensor<9x2x4xf32> {seq.state_name = "keys"},
                   %values: tensor<9x2x3xf32> {seq.state_name = "values"})
    -> (tensor<?x6x3xf32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>) {
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?xi32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>)
        -> (tensor<?x6x3xf32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>)
  %z, %c, %d = seq.attention %q, %k, %v positions(%p) states(%a, %b) {scale = 0.25 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?xi32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>)
        -> (tensor<?x6x3xf32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>)
  return %z, %c, %d : tensor<?x6x3xf32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>
}
}
