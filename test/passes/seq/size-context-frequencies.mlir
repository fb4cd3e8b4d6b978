// RUN: effc-opt %s --seq-size-context 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: not effc-opt %s --seq-size-context=positions=41 2>&1 | FileCheck %s --check-prefix=MORE

// No state grows, but frequencies have 40 rows, one for each position. Those of 20
// rows bound nothing, since nothing is turned further than at 19.

// OWN: remark: contexts end at 40 positions, for which the model's states and tables are made
// OWN: max_context = 40>
// MORE: error: 'seq.rotary' op expects its table to have a row for each of the 41 positions of the longest context, but got 40 rows
module attributes {seq.model = #seq.model<family = "mine", vocabulary = 11, width = 6, max_context = 0>} {
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>, %table: tensor<11x6xf32>,
                   %f: tensor<40x3xf32>, %g: tensor<20x3xf32>) -> tensor<?x1x6xf32> {
  %a = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
  %x = seq.reshape %a : tensor<?x6xf32> -> tensor<?x1x6xf32>
  %y = seq.rotary half %x at(%positions), %f : tensor<?x1x6xf32>, tensor<?xi32>, tensor<40x3xf32>
  %z = seq.rotary half %y at(%positions), %g {last = 19 : i64} : tensor<?x1x6xf32>, tensor<?xi32>, tensor<20x3xf32>
  return %z : tensor<?x1x6xf32>
}
}
