// RUN: effc-opt %s --seq-size-context 2>&1 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: effc-opt %s --seq-size-context=positions=40 | FileCheck %s --check-prefixes=CHECK,ASKED
// RUN: not effc-opt %s --seq-size-context=positions=46 2>&1 | FileCheck %s --check-prefix=MORE

// All tokens are kept, in blocks of 32 rows, and there are weights for 45 positions.

// OWN: remark: contexts end at 45 positions, for which the model's states and tables are made
// OWN: max_context = 45>
// ASKED: max_context = 40>
// MORE: error: 'seq.causal_mix' op expects its table to have a row for each of the 46 positions of the longest context, but got 45 rows
module attributes {seq.model = #seq.model<family = "mine", vocabulary = 11, width = 6, max_context = 0>} {
// CHECK-LABEL: func.func @forward
// CHECK-SAME: tensor<64x6xf32> {seq.state_name = "inputs"}
func.func @forward(%x: tensor<?x6xf32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
                   %w: tensor<45x45xf32>, %inputs: tensor<50x6xf32> {seq.state_name = "inputs"})
    -> (tensor<?x6xf32>, tensor<50x6xf32>) {
  %y, %next = seq.causal_mix %x positions(%positions) parameters(%w) state(%inputs)
      : (tensor<?x6xf32>, tensor<?xi32>, tensor<45x45xf32>, tensor<50x6xf32>)
      -> (tensor<?x6xf32>, tensor<50x6xf32>)
  return %y, %next : tensor<?x6xf32>, tensor<50x6xf32>
}
}
