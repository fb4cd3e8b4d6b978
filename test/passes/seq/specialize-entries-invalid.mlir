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

// -----

// The second argument is a state.
module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  // expected-error @+2 {{expects argument #1, the output rows, to be 'tensor<?xi32>', but got 'tensor<3x6xf32>'}}
  // expected-note @+1 {{@forward takes tokens, output rows and, where it uses them, positions, in this order}}
  func.func @forward(%tokens: tensor<?xi32>, %s0: tensor<3x6xf32> {seq.state_name = "s0"}) -> (tensor<?x7xf32>, tensor<3x6xf32>) {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %x, %table : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %logits, %s0 : tensor<?x7xf32>, tensor<3x6xf32>
  }
}

// -----

module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  // expected-error @+2 {{expects argument #1, the output rows, to be 'tensor<?xi32>', but got none}}
  // expected-note @+1 {{@forward takes tokens, output rows and, where it uses them, positions, in this order}}
  func.func @forward(%tokens: tensor<?xi32>) -> tensor<?x7xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %x, %table : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %logits : tensor<?x7xf32>
  }
}

// -----

module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  // expected-error @+1 {{expects logits as the first result, but got no result}}
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    return
  }
}

// -----

// All rows' logits, in the room for those wanted.
module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  // expected-error @+2 {{expects logits, the first result, with a row per output row, but got a row per token}}
  // expected-note @+1 {{'seq.select_rows' with the output rows, this argument, keeps those whose logits are wanted; nothing uses it}}
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x7xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %x, %table : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %logits : tensor<?x7xf32>
  }
}

// -----

// Rows are chosen, but not for the logits.
module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  // expected-error @+2 {{expects logits, the first result, with a row per output row, but got a row per token}}
  // expected-note-re @+1 {{keeps those whose logits are wanted{{$}}}}
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x7xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    %last = seq.select_rows %x, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %x, %table : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %logits : tensor<?x7xf32>
  }
}

// -----

// Tokens with the output rows beside them: the types agree, the counts do not.
module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x7xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    // expected-note @+1 {{output rows are chosen here}}
    %last = seq.select_rows %x, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    %n = seq.tanh %last : tensor<?x6xf32>
    // expected-error @+1 {{'seq.add' op expects operand #1 to have a row per output row, but got a row per token}}
    %y = seq.add %n, %x : tensor<?x6xf32>
    %logits = seq.lm_head %y, %table : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %logits : tensor<?x7xf32>
  }
}

// -----

// Positions have a row per token too.
module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>) -> tensor<?x7xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    %p = seq.embedding %positions, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    // expected-note @+1 {{output rows are chosen here}}
    %last = seq.select_rows %x, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    // expected-error @+1 {{'seq.mul' op expects operand #1 to have a row per token, but got a row per output row}}
    %y = seq.mul %p, %last : tensor<?x6xf32>
    %logits = seq.lm_head %y, %table : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %logits : tensor<?x7xf32>
  }
}

// -----

// Tokens that are left out would be missing from the state.
module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  seq.weight @w source("w") : tensor<4x6xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<3x6xf32> {seq.state_name = "s"})
      -> (tensor<?x7xf32>, tensor<3x6xf32>) {
    %table = seq.parameter @table : tensor<7x6xf32>
    %w = seq.parameter @w : tensor<4x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    // expected-note @+1 {{output rows are chosen here}}
    %last = seq.select_rows %x, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    // expected-error @+1 {{'seq.short_convolution' op expects operand #0 to have a row per token, but got a row per output row}}
    %y, %next = seq.short_convolution %last parameters(%w) state(%s)
        {activation = #seq.activation<none>} : tensor<?x6xf32>, (tensor<4x6xf32>), tensor<3x6xf32>
    %logits = seq.lm_head %y, %table : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %logits, %next : tensor<?x7xf32>, tensor<3x6xf32>
  }
}

// -----

// Output rows number tokens, so they are chosen once.
module attributes {seq.model = #seq.model<family = "toy", vocabulary = 7, width = 6, max_context = 0>} {
  seq.weight @table source("table") : tensor<7x6xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x7xf32> {
    %table = seq.parameter @table : tensor<7x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x6xf32>) -> tensor<?x6xf32>
    // expected-note @+1 {{output rows are chosen here}}
    %some = seq.select_rows %x, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    // expected-error @+1 {{'seq.select_rows' op expects operand #0 to have a row per token, but got a row per output row}}
    %last = seq.select_rows %some, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %last, %table : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
    return %logits : tensor<?x7xf32>
  }
}
