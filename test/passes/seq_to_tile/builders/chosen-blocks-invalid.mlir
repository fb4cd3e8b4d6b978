// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile --verify-diagnostics

// More blocks than the row that a kernel holds.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 41216, states = [
    <name = "sums", kind = sum, growth = fixed, type = tensor<2060x1x5xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<11x5xf32>
func.func @decode_4(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
                    %sums: tensor<2060x1x5xf32> {seq.state_name = "sums"})
    -> (tensor<?x1x3xi32>, tensor<2060x1x5xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 4>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  %k = seq.reshape %x : tensor<?x5xf32> -> tensor<?x1x5xf32>
  // expected-error @+2 {{'seq.choose_blocks' op has a kernel that chooses among at most 2048 blocks, but got 2060}}
  // expected-note @+1 {{longer blocks or a shorter context have fewer}}
  %chosen, %next = seq.choose_blocks %k, %k positions(%positions) state(%sums)
      {block = 8 : i64, scale = 0.5 : f64, score = #seq.block_score<mean>}
      : (tensor<?x1x5xf32>, tensor<?x1x5xf32>, tensor<?xi32>, tensor<2060x1x5xf32>)
        -> (tensor<?x1x3xi32>, tensor<2060x1x5xf32>)
  return %chosen, %next : tensor<?x1x3xi32>, tensor<2060x1x5xf32>
}
}
