// RUN: effc-opt %s --seq-choose-forms 2>&1 | FileCheck %s
// RUN: effc-opt %s --seq-choose-forms=force=scan 2>&1 | FileCheck %s

// A step without a state has nothing to lose by the one form that there is, whatever is asked for: the remark is of no
// fallback.

module attributes {tile.target = #tile.target<host, bit_stable = true, vector = 8, registers = 16,
                                              step_rate = 16, dot_rate = 20, state_bytes = 32768>} {
// CHECK-NOT: fallback
// CHECK: remark: form in prefill_48: step, of each token by itself: it carries no state
// CHECK-NOT: fallback
// CHECK-LABEL: func.func @prefill_48
func.func @prefill_48(%x: tensor<?x2xf32>, %a: tensor<2xf32>) -> tensor<?x2xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  // CHECK: seq.recurrence {{.*}}form = #seq.form<kind = step>
  %y = seq.recurrence tokens(%xt = %x : tensor<?x2xf32>) parameters(%at = %a : tensor<2xf32>) states()
      -> (tensor<?x2xf32>), () {
    %rate = seq.exp %at : tensor<2xf32>
    %step = seq.mul %rate, %xt : tensor<2xf32>
    seq.yield %step : tensor<2xf32>
  }
  return %y : tensor<?x2xf32>
}
}
