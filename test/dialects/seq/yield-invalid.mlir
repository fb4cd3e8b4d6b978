// RUN: effc-opt %s --split-input-file --verify-diagnostics

// The function breaks the constraint it is named by.

func.func @yield1_outside(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects parent op to be one of 'seq.kernel, seq.recurrence, seq.scan'}}
  seq.yield %x : tensor<?x6xf32>
}
