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

// -----

// Who calls makes room for as many as there are tokens.
module attributes {seq.model = #seq.model<family = "test", vocabulary = 5, width = 6, max_context = 0>} {
  // expected-error @+1 {{expects logits for the vocabulary's 5 tokens, but got 'tensor<?x6xf32>'}}
  func.func @forward(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
    return %x : tensor<?x6xf32>
  }
}

// -----

module {
  seq.weight @table source("table") : tensor<7x6xf32>
  // expected-note @+1 {{@forward takes tokens, output rows and, where it uses them, positions, in this order}}
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x6xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    // expected-error @+1 {{'seq.select_rows' op expects the output rows of the call, but got its tokens}}
    %y = seq.select_rows %x, %tokens : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    return %y : tensor<?x6xf32>
  }
}

// -----

module {
  seq.weight @table source("table") : tensor<7x6xf32>
  // expected-note @+1 {{@forward takes tokens, output rows and, where it uses them, positions, in this order}}
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x6xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    // expected-error @+1 {{'seq.embedding' op expects the tokens or the positions of the call, but got its output rows}}
    %x = seq.embedding %rows, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    return %x : tensor<?x6xf32>
  }
}

// -----

module {
  seq.weight @table source("table") : tensor<7x6xf32>
  seq.weight @f source("f") : tensor<3xf32>
  // expected-note @+1 {{@forward takes tokens, output rows and, where it uses them, positions, in this order}}
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x6xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    %h = seq.reshape %x : tensor<?x6xf32> -> tensor<?x1x6xf32>
    %f = seq.parameter @f : tensor<3xf32>
    // expected-error @+1 {{'seq.rotary' op expects the positions of the call, but got its output rows}}
    %t = seq.rotary half %h at(%rows), %f : tensor<?x1x6xf32>, tensor<?xi32>, tensor<3xf32>
    %y = seq.reshape %t : tensor<?x1x6xf32> -> tensor<?x6xf32>
    return %y : tensor<?x6xf32>
  }
}

// -----

module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 8, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  // expected-note @+1 {{no value of @forward is of shape T,8, the 'width' of the module's 'seq.model'}}
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x7xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    // expected-error @+1 {{'seq.embedding' op expects tokens of the model's width 8, but got 6}}
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    %y = seq.lm_head %x, %table : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %y : tensor<?x7xf32>
  }
}
