// RUN: not effc-opt %s --seq-form-kernels --convert-seq-to-tile 2>&1 | FileCheck %s
// RUN: sed 's/^module attributes {/&tile.target = #tile.target<host, bit_stable = true, vector = 8, registers = 16, step_rate = 16, dot_rate = 20, state_bytes = 32768>, /' %s \
// RUN:   | not effc-opt --seq-form-kernels --convert-seq-to-tile 2>&1 | FileCheck %s

// The host has no chunks of what corrects its state: an error, whatever the target says.
// CHECK: error: 'seq.delta_rule' op has no chunkwise kernel: expects a real decay per head or key channel, no normaliser and no stabiliser
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 4096, states = [<name = "s", kind = matrix, growth = fixed, type = tensor<2x16x32xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @t source("t") : tensor<11x64xf32>
func.func @prefill_64(%tok: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x16x32xf32> {seq.state_name = "s"})
    -> (tensor<?x2x32xf32>, tensor<2x16x32xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 64>} {
  %t = seq.parameter @t : tensor<11x64xf32>
  %u = seq.embedding %tok, %t : (tensor<?xi32>, tensor<11x64xf32>) -> tensor<?x64xf32>
  %v = seq.reshape %u : tensor<?x64xf32> -> tensor<?x2x32xf32>
  %h = seq.slice %u {axis = 1 : i64, offset = 0 : i64, size = 32 : i64} : tensor<?x64xf32> -> tensor<?x32xf32>
  %k = seq.reshape %h : tensor<?x32xf32> -> tensor<?x2x16xf32>
  %be = seq.slice %u {axis = 1 : i64, offset = 32 : i64, size = 2 : i64} : tensor<?x64xf32> -> tensor<?x2xf32>
  %y, %next = seq.delta_rule %k, %k, %v, %be state(%s) {scale = 1.0 : f64, form = #seq.form<kind = chunkwise, chunk = 16>}
      : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x2x32xf32>, tensor<?x2xf32>, tensor<2x16x32xf32>) -> (tensor<?x2x32xf32>, tensor<2x16x32xf32>)
  return %y, %next : tensor<?x2x32xf32>, tensor<2x16x32xf32>
}
}
