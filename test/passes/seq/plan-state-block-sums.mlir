// RUN: effc-opt %s --seq-plan-state | FileCheck %s

// The state has a row for every 16 positions, which the file says, so that it can be held
// to the longest context: 7 * 2 * 4 f32 are 224 bytes.

// CHECK: #seq.state_layout<slot_bytes = 256, states = [
// CHECK-SAME: <name = "sums", kind = sum, growth = fixed, type = tensor<7x2x4xf32>,
// CHECK-SAME: offset = 0, positions_per_row = 16>]>

func.func @forward(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %p: tensor<?xi32>,
                   %sums: tensor<7x2x4xf32> {seq.state_name = "sums"})
    -> (tensor<?x2x5xi32>, tensor<7x2x4xf32>) {
  %chosen, %next = seq.choose_blocks %q, %k positions(%p) state(%sums)
      {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>,
       first = 1 : i64, last = 2 : i64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<7x2x4xf32>)
        -> (tensor<?x2x5xi32>, tensor<7x2x4xf32>)
  return %chosen, %next : tensor<?x2x5xi32>, tensor<7x2x4xf32>
}
