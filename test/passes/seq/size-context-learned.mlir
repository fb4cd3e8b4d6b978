// RUN: effc-opt %s --seq-size-context 2>&1 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: effc-opt %s --seq-size-context=positions=40 | FileCheck %s --check-prefixes=CHECK,ASKED
// RUN: not effc-opt %s --seq-size-context=positions=49 2>&1 | FileCheck %s --check-prefix=MORE

// No state grows, but positions end where the shorter table of learned ones does: after 48 rows.

// OWN: remark: contexts end at 48 positions, for which the model's states and tables are made
// OWN: max_context = 48>
// ASKED: max_context = 40>
// MORE: error: 'seq.embedding' op expects its table to have a row for each of the 49 positions of the longest context, but got 48 rows
module attributes {seq.model = #seq.model<family = "mine", vocabulary = 11, width = 6, max_context = 0>} {
// CHECK-LABEL: func.func @forward
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
                   %long: tensor<50x6xf32>, %short: tensor<48x6xf32>) -> tensor<?x6xf32> {
  %a = seq.embedding %positions, %long : (tensor<?xi32>, tensor<50x6xf32>) -> tensor<?x6xf32>
  %b = seq.embedding %positions, %short : (tensor<?xi32>, tensor<48x6xf32>) -> tensor<?x6xf32>
  %c = seq.add %a, %b : tensor<?x6xf32>
  return %c : tensor<?x6xf32>
}
}
