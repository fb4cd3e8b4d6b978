// RUN: effc-opt %s --seq-size-context 2>&1 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: effc-opt %s --seq-size-context=positions=40 | FileCheck %s --check-prefixes=CHECK,ASKED
// RUN: echo 'module {}' | effc-opt --seq-size-context=positions=40 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: effc-opt %s --seq-size-context=positions=40 --seq-size-context | FileCheck %s --check-prefixes=CHECK,ASKED

// The table has room for 9 positions, which is a block of 32 rows; 40 are two blocks.
// A window's ring stays what it is.

// NONE: remark: a longest context of 40 positions has no effect: no state grows with the position
// OWN: remark: contexts end at 9 positions, for which the model's states and tables are made
// OWN: max_context = 9>
// ASKED: max_context = 40>
module attributes {seq.model = #seq.model<family = "mine", vocabulary = 11, width = 6, max_context = 0>} {
// CHECK-LABEL: func.func @forward
// OWN-SAME: %{{[^:]+}}: tensor<32x2x4xf32> {seq.state_name = "keys"}, %{{[^:]+}}: tensor<32x2x3xf32>
// ASKED-SAME: %{{[^:]+}}: tensor<64x2x4xf32> {seq.state_name = "keys"}, %{{[^:]+}}: tensor<64x2x3xf32>
// CHECK-SAME: %{{[^:]+}}: tensor<5x2x4xf32> {seq.state_name = "ring"}
// OWN-SAME: -> (tensor<32x2x4xf32>, tensor<32x2x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>)
// ASKED-SAME: -> (tensor<64x2x4xf32>, tensor<64x2x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>)
func.func @forward(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %p: tensor<?xi32>,
                   %keys: tensor<9x2x4xf32> {seq.state_name = "keys"},
                   %values: tensor<9x2x3xf32> {seq.state_name = "values"},
                   %ring: tensor<5x2x4xf32> {seq.state_name = "ring"},
                   %ringv: tensor<5x2x3xf32> {seq.state_name = "ringv"})
    -> (tensor<9x2x4xf32>, tensor<9x2x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>) {
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?xi32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>)
        -> (tensor<?x6x3xf32>, tensor<9x2x4xf32>, tensor<9x2x3xf32>)
  %z, %c, %d = seq.attention %q, %k, %v positions(%p) states(%ring, %ringv) {window = 5 : i64, scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?xi32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>)
        -> (tensor<?x6x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>)
  return %a, %b, %c, %d : tensor<9x2x4xf32>, tensor<9x2x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>
}
}
