// RUN: effc-opt %s --seq-specialize-entries="prefill-rows=0" --split-input-file --verify-diagnostics

// expected-error @+1 {{expects a function @forward, the model}}
module {
  func.func private @backward()
}

// -----

// expected-error @+1 {{expects entries of at least 1 row, but got 0}}
module {
  func.func private @forward()
}
