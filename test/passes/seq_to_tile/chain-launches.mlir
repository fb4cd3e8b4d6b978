// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile --tile-chain-launches 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: sed 's/rows = 1>/rows = 2>/; s/decode_1/decode_2/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile --tile-chain-launches 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=TWO
// RUN: sed 's/kind = decode, rows = 1>/kind = prefill, rows = 16>/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile --tile-chain-launches 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=PROMPT
// RUN: sed 's/%again = seq.mul %h, %h/%n = seq.softmax %u : tensor<?x80xf32> %again = seq.mul %h, %n/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile --tile-chain-launches 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=PROMPT
// RUN: sed 's/%again = seq.mul %h, %h/%n = seq.softmax %h : tensor<?x80xf32> %again = seq.add %n, %u/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile --tile-chain-launches 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=LATER
// RUN: sed 's/#tile.target<nvptx.*/#tile.target<host, bit_stable = true,/; /core = </d; s/vector = 32, registers = 255/vector = 8, registers = 16/; s/cores = 108, bandwidth = 1446, rereads = 1309/state_bytes = 131072/' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile --tile-chain-launches 2> /dev/null | FileCheck %s --check-prefix=PROMPT

// Both products of a gated layer have 80 outputs, and an item of the second multiplies by
// what the same item of the first has summed up. Nothing is left of the memory between.
// Of two rows each is stored, and loaded, where it is there. Entries of prompts and the
// host's stay, and so does what a softmax between reads first. What one behind reads as well
// is handed on, and stored besides.

// CHECK: plan.entry @decode_1
// CHECK: plan.launch @linear_[[U:[0-9]+]]_chained(%[[X:[a-z0-9]+]], %{{[a-z0-9]+}}, %[[X]], %{{[a-z0-9]+}}, %[[H:[a-z0-9]+]])
// CHECK-SAME: items <rows, tile = 1, times = [[ALL:[0-9]+]]> note "m.up+gate"
// CHECK: plan.launch @elementwise_{{[0-9]+}}(%[[H]],
// CHECK-NOT: tile.kernel @linear_[[U]](
// CHECK: tile.kernel @linear_[[U]]_chained(%[[ITEM:[a-z0-9]+]],
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = [[ALL]]>) writes(4) streamed(1, 3)
// CHECK: %[[SUM:[a-z0-9]+]] = tile.reduce add
// CHECK-NOT: tile.store
// CHECK: %[[GATE:[a-z0-9]+]] = tile.reduce add
// CHECK: tile.map(%{{[a-z0-9]+}}, %[[SUM]])
// CHECK: tile.store
// CHECK-NOT: tile.store
// CHECK: tile.kernel
// REMARK: one launch of 2, whose items read what they have written
// TWO: plan.launch @linear_{{[0-9]+}}_chained({{.*}} items <rows, tile = 2,
// PROMPT-NOT: _chained
// LATER: plan.launch @linear_[[U:[0-9]+]]_chained(%[[X:[a-z0-9]+]], %{{[a-z0-9]+}}, %[[UP:[a-z0-9]+]], %[[X]], %{{[a-z0-9]+}}, %[[H:[a-z0-9]+]])
// LATER: plan.launch @softmax_{{[0-9]+}}(%[[H]], %[[UP]],
// LATER: tile.kernel @linear_[[U]]_chained(%{{[a-z0-9]+}}, %{{[^%]*}}%{{[^%]*}}%[[LINK:[a-z0-9]+]]:
// LATER-SAME: writes(2, 5) streamed(1, 4)
// LATER: %[[SUM:[a-z0-9]+]] = tile.reduce add
// LATER: tile.store %[[SUM]], %[[LINK]]
// LATER-NOT: tile.load %[[LINK]]
// LATER: %[[GATE:[a-z0-9]+]] = tile.reduce add
// LATER: tile.map(%{{[a-z0-9]+}}, %[[SUM]])
// LATER: tile.store
// LATER: tile.kernel
module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x192xf32>
seq.weight @wu source("u") : tensor<80x192xbf16>
seq.weight @wg source("g") : tensor<80x192xbf16>
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x80xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x192xf32>
  %wu = seq.parameter @wu : tensor<80x192xbf16>
  %wg = seq.parameter @wg : tensor<80x192xbf16>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x192xf32>) -> tensor<?x192xf32>
  %u = seq.linear %x, %wu : (tensor<?x192xf32>, tensor<80x192xbf16>) -> tensor<?x80xf32> loc("m.up")
  %g = seq.linear %x, %wg : (tensor<?x192xf32>, tensor<80x192xbf16>) -> tensor<?x80xf32> loc("m.gate")
  %s = seq.silu %g : tensor<?x80xf32>
  %h = seq.mul %s, %u : tensor<?x80xf32>
  %again = seq.mul %h, %h : tensor<?x80xf32>
  %last = seq.select_rows %again, %rows : (tensor<?x80xf32>, tensor<?xi32>) -> tensor<?x80xf32>
  return %last : tensor<?x80xf32>
}
}
