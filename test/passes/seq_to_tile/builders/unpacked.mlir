// RUN: effc-opt %s --seq-unpack-weights --convert-seq-to-tile --tile-join-launches 2> /dev/null | FileCheck %s

// A row of 2,560 is two parts of up to 2,048, and the second has 512 of them. The product
// reads a buffer of bf16. Two layers' matrices are unpacked by one kernel, and stay two
// launches although neither reads what the other writes.

// CHECK-LABEL: plan.entry @decode_9
// CHECK: %[[W:.*]] = plan.weight @first
// CHECK: %[[BUFFER:.*]] = plan.arena bytes 3276800
// CHECK: plan.launch @unpacked_[[N:[0-9]+]](%[[W]], %[[BUFFER]]) items <one, tile = 1, times = 1280> note "first.weight"
// CHECK: plan.launch @linear_{{[0-9]+}}(%{{.*}}, %[[BUFFER]], %{{.*}})
// CHECK: plan.launch @unpacked_[[N]](%{{.*}}, %{{.*}}) items <one, tile = 1, times = 1280> note "second.weight"
// CHECK: tile.kernel @unpacked_[[N]](%[[ITEM:.*]], %[[IN:.*]]: !tile.view<640x2560x!q8_0, [2560, 1]>, %[[OUT:.*]]: !tile.view<640x2560xbf16, [2560, 1]>)
// CHECK: %[[ROW:.*]] = arith.divui %[[ITEM]],
// CHECK: %[[LIMIT:.*]] = arith.minsi
// CHECK: %[[T:.*]] = tile.load %[[IN]][%[[ROW]], %{{.*}}] columns(%[[LIMIT]]) sizes [1, 2048]
// CHECK: tile.store %[[T]], %[[OUT]][%[[ROW]], %{{.*}}] columns(%[[LIMIT]]) sizes [1, 2048]
!q8_0 = !storage.block<"q8_0", elements = 32, bytes = 34, digits = [32],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 900, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x2560xf32>
seq.weight @first source("first") : tensor<640x2560x!q8_0>
seq.weight @second source("second") : tensor<640x2560x!q8_0>
func.func @decode_9(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x640xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 9>} {
  %table = seq.parameter @table : tensor<11x2560xf32>
  %first = seq.parameter @first : tensor<640x2560x!q8_0>
  %second = seq.parameter @second : tensor<640x2560x!q8_0>
  %x = seq.kernel "embedding" (%i = %tokens : tensor<?xi32>, %t = %table : tensor<11x2560xf32>)
      -> (tensor<?x2560xf32>) attributes {root = 0 : i64} {
    %e = seq.embedding %i, %t : (tensor<?xi32>, tensor<11x2560xf32>) -> tensor<?x2560xf32>
    seq.yield %e : tensor<?x2560xf32>
  }
  %a = seq.kernel "first" (%r = %x : tensor<?x2560xf32>, %w = %first : tensor<640x2560x!q8_0>)
      -> (tensor<?x640xf32>) attributes {root = 0 : i64} {
    %p = seq.linear %r, %w : (tensor<?x2560xf32>, tensor<640x2560x!q8_0>) -> tensor<?x640xf32>
    %s = seq.silu %p : tensor<?x640xf32>
    seq.yield %s : tensor<?x640xf32>
  }
  %b = seq.kernel "second" (%r = %x : tensor<?x2560xf32>, %g = %a : tensor<?x640xf32>, %w = %second : tensor<640x2560x!q8_0>)
      -> (tensor<?x640xf32>) attributes {root = 0 : i64} {
    %p = seq.linear %r, %w : (tensor<?x2560xf32>, tensor<640x2560x!q8_0>) -> tensor<?x640xf32>
    %s = seq.mul %p, %g : tensor<?x640xf32>
    seq.yield %s : tensor<?x640xf32>
  }
  %out = seq.kernel "rows" (%r = %b : tensor<?x640xf32>, %n = %rows : tensor<?xi32>)
      -> (tensor<?x640xf32>) attributes {root = 0 : i64} {
    %o = seq.select_rows %r, %n : (tensor<?x640xf32>, tensor<?xi32>) -> tensor<?x640xf32>
    seq.yield %o : tensor<?x640xf32>
  }
  return %out : tensor<?x640xf32>
}
}
