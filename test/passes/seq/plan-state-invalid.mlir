// RUN: effc-opt %s --seq-plan-state --split-input-file --verify-diagnostics
// RUN: not effc-opt %s --seq-plan-state=alignment=48 --split-input-file 2>&1 | FileCheck %s

// CHECK: error: expects 'alignment' to be a power of two, but got 48

// expected-error @+1 {{expects state 'tail' to be carried by one op, a mixer, a convolution or a token shift, but got none}}
func.func @state_without_use(%tail: tensor<3x11xf32> {seq.state_name = "tail"}) -> tensor<3x11xf32> {
  return %tail : tensor<3x11xf32>
}

// -----

// expected-error @+1 {{expects state 'tail' to be carried by one op, a mixer, a convolution or a token shift, but got 2}}
func.func @state_of_two_ops(%u: tensor<?x11xf32>, %w: tensor<4x11xf32>,
                            %tail: tensor<3x11xf32> {seq.state_name = "tail"}) -> tensor<3x11xf32> {
  // expected-note @+1 {{'seq.short_convolution' reads it}}
  %a, %next_a = seq.short_convolution %u parameters(%w) state(%tail)
      {activation = #seq.activation<none>} : tensor<?x11xf32>, (tensor<4x11xf32>), tensor<3x11xf32>
  // expected-note @+1 {{'seq.short_convolution' reads it}}
  %b, %next_b = seq.short_convolution %a parameters(%w) state(%tail)
      {activation = #seq.activation<none>} : tensor<?x11xf32>, (tensor<4x11xf32>), tensor<3x11xf32>
  return %next_b : tensor<3x11xf32>
}

// -----

// expected-error @+1 {{expects state 'x' to be carried by one op, a mixer, a convolution or a token shift, but got 'seq.silu', which carries none}}
func.func @state_that_is_no_state(%x: tensor<5x11xf32> {seq.state_name = "x"}) -> tensor<5x11xf32> {
  // expected-note @+1 {{'seq.silu' reads it}}
  %y = seq.silu %x : tensor<5x11xf32>
  return %y : tensor<5x11xf32>
}
