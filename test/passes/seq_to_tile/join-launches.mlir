// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile --tile-join-launches 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: sed 's/rows = 1>/rows = 100>/; s/decode_1/decode_100/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile --tile-join-launches 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=ROWS
// RUN: sed 's/kind = decode, rows = 1>/kind = prefill, rows = 16>/' %s | effc-opt --seq-form-kernels --convert-seq-to-tile --tile-join-launches 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=PROMPT
// RUN: sed 's/#tile.target<nvptx.*/#tile.target<host, bit_stable = true,/; /core = </d; s/vector = 32, registers = 255/vector = 8, registers = 16/; s/cores = 108, bandwidth = 1446, rereads = 1309/state_bytes = 131072/' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile --tile-join-launches 2> /dev/null | FileCheck %s --check-prefix=HOST

// Queries, keys and values read the embedded row: 70, 48 and 6 outputs, of which an item
// has one for each warp. What reads the queries comes after them, and so does what is
// computed of both keys and values. Entries of prompts and the host's stay.

// CHECK: plan.entry @decode_1
// CHECK: plan.launch @linear_[[Q:[0-9]+]]_joined(%[[X:[a-z0-9]+]], %[[WQ:[a-z0-9]+]], %[[QS:[a-z0-9]+]], %[[X]], %{{[a-z0-9]+}}, %[[KS:[a-z0-9]+]], %[[X]], %{{[a-z0-9]+}}, %[[VS:[a-z0-9]+]])
// CHECK-SAME: items <rows, tile = 1, times = [[ALL:[0-9]+]]> note "m.q+k+v.low"
// CHECK: plan.launch @linear_{{[0-9]+}}(%[[QS]],
// CHECK-NOT: note "m.k"
// CHECK: tile.kernel @linear_[[Q]]_joined(%[[ITEM:[a-z0-9]+]],
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = [[ALL]]>) writes(2, 5, 8) streamed(1, 4, 7)
// CHECK-COUNT-3: arith.subi %[[ITEM]],
// CHECK-NOT: tile.kernel @linear_[[Q]](
// REMARK: one launch of 3 products, which read the same rows

// Of 100 rows there are two tiles, and each has the items of all parts.
// ROWS: plan.launch @linear_{{[0-9]+}}_joined({{.*}} items <rows, tile = 64, times = 4> note "m.q+k+v.low"
// ROWS: tile.kernel @linear_{{[0-9]+}}_joined(%[[ITEM:[a-z0-9]+]],
// ROWS: %[[NUMBER:[a-z0-9]+]] = arith.remui %[[ITEM]],
// ROWS: arith.subi %[[NUMBER]],
// ROWS: arith.divui %[[ITEM]],
// PROMPT-NOT: _joined
// HOST-NOT: _joined
module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x192xf32>
seq.weight @wq source("q") : tensor<70x192xbf16>
seq.weight @wk source("k") : tensor<48x192xbf16>
seq.weight @wv source("v") : tensor<6x192xbf16>
seq.weight @wo source("o") : tensor<48x70xbf16>
seq.weight @head source("head") : tensor<11x48xbf16>
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x11xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x192xf32>
  %wq = seq.parameter @wq : tensor<70x192xbf16>
  %wk = seq.parameter @wk : tensor<48x192xbf16>
  %wv = seq.parameter @wv : tensor<6x192xbf16>
  %wo = seq.parameter @wo : tensor<48x70xbf16>
  %head = seq.parameter @head : tensor<11x48xbf16>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x192xf32>) -> tensor<?x192xf32>
  %q = seq.linear %x, %wq : (tensor<?x192xf32>, tensor<70x192xbf16>) -> tensor<?x70xf32> loc("m.q")
  %o = seq.linear %q, %wo : (tensor<?x70xf32>, tensor<48x70xbf16>) -> tensor<?x48xf32> loc("m.o")
  %k = seq.linear %x, %wk : (tensor<?x192xf32>, tensor<48x192xbf16>) -> tensor<?x48xf32> loc("m.k")
  %v = seq.linear %x, %wv : (tensor<?x192xf32>, tensor<6x192xbf16>) -> tensor<?x6xf32> loc("m.v.low")
  %ks = seq.reshape %k : tensor<?x48xf32> -> tensor<?x6x8xf32>
  %all = seq.broadcast %v along %ks {dimensions = array<i64: 0, 1>} : tensor<?x6xf32>, tensor<?x6x8xf32>
  %kv = seq.mul %ks, %all : tensor<?x6x8xf32>
  %flat = seq.reshape %kv : tensor<?x6x8xf32> -> tensor<?x48xf32>
  %y = seq.add %o, %flat : tensor<?x48xf32>
  %last = seq.select_rows %y, %rows : (tensor<?x48xf32>, tensor<?xi32>) -> tensor<?x48xf32>
  %logits = seq.lm_head %last, %head : (tensor<?x48xf32>, tensor<11x48xbf16>) -> tensor<?x11xf32>
  return %logits : tensor<?x11xf32>
}
}
