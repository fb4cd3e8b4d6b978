// RUN: effc-opt %s --convert-seq-to-tile | FileCheck %s

// A kernel that gives what it joins twice is a launch.

// CHECK-LABEL: plan.entry @prefill_4
// CHECK: plan.launch @concat_
// CHECK-SAME: note "j"
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x40xf32>
func.func @prefill_4(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> (tensor<?x80xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 4>} {
  %table = seq.parameter @table : tensor<11x40xf32>
  %x = seq.kernel "e" (%i = %tokens : tensor<?xi32>, %t = %table : tensor<11x40xf32>) -> (tensor<?x40xf32>) attributes {root = 0 : i64} {
    %e = seq.embedding %i, %t : (tensor<?xi32>, tensor<11x40xf32>) -> tensor<?x40xf32>
    seq.yield %e : tensor<?x40xf32>
  }
  %z = seq.kernel "e2" (%i = %tokens : tensor<?xi32>, %t = %table : tensor<11x40xf32>) -> (tensor<?x40xf32>) attributes {root = 0 : i64} {
    %e = seq.embedding %i, %t : (tensor<?xi32>, tensor<11x40xf32>) -> tensor<?x40xf32>
    seq.yield %e : tensor<?x40xf32>
  }
  %j:2 = seq.kernel "j" (%a = %x : tensor<?x40xf32>, %b = %z : tensor<?x40xf32>) -> (tensor<?x80xf32>, tensor<?x80xf32>) attributes {root = 0 : i64} {
    %c = seq.concat %a, %b {axis = 1 : i64} : (tensor<?x40xf32>, tensor<?x40xf32>) -> tensor<?x80xf32>
    seq.yield %c, %c : tensor<?x80xf32>, tensor<?x80xf32>
  }
  %s = seq.kernel "s" (%a = %j#0 : tensor<?x80xf32>, %b = %j#1 : tensor<?x80xf32>) -> (tensor<?x80xf32>) {
    %o = seq.add %a, %b : tensor<?x80xf32>
    seq.yield %o : tensor<?x80xf32>
  }
  %out = seq.kernel "r" (%a = %s : tensor<?x80xf32>, %r = %rows : tensor<?xi32>) -> (tensor<?x80xf32>) attributes {root = 0 : i64} {
    %o = seq.select_rows %a, %r : (tensor<?x80xf32>, tensor<?xi32>) -> tensor<?x80xf32>
    seq.yield %o : tensor<?x80xf32>
  }
  return %out : tensor<?x80xf32>
}
}
