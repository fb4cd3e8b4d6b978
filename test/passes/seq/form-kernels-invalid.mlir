// RUN: effc-opt %s --seq-form-kernels --split-input-file --verify-diagnostics

// The rows of a kernel are tokens, and a parameter has none.
func.func @computes_from_a_parameter(%x: tensor<?x6xf32>, %s: tensor<6xf32>) -> tensor<?x6xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %w = seq.parameter @w : tensor<6x2xf32>
  %flat = seq.reshape %w : tensor<6x2xf32> -> tensor<12xf32>
  // expected-error @+1 {{'seq.log_sigmoid' op computes from parameters alone, which no call does: expects a weight with the numbers it gives, or the op inside of a 'seq.recurrence'}}
  %g = seq.log_sigmoid %flat : tensor<12xf32>
  return %x : tensor<?x6xf32>
}
seq.weight @w source("w") : tensor<6x2xf32>
