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

// -----

// Token ids reach the vocabulary, so a shorter table would be read past its end.
module attributes {seq.model = #seq.model<family = "test", vocabulary = 11, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  func.func @forward(%tokens: tensor<?xi32>) -> tensor<?x6xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    // expected-error @+1 {{expects a table of at least the vocabulary's 11 rows, but got 7}}
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    return %x : tensor<?x6xf32>
  }
}

// -----

module attributes {seq.model = #seq.model<family = "test", vocabulary = 11, width = 6, max_context = 0>} {
  // expected-error @+1 {{expects logits for the vocabulary's 11 tokens, but got 'tensor<?x6xf32>'}}
  func.func @forward(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
    return %x : tensor<?x6xf32>
  }
}
