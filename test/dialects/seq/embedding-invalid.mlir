// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @embedding1_other_width(%tokens: tensor<?xi32>, %table: tensor<11x6xbf16>) {
  // expected-error @+1 {{expects 'y' of shape T,D = ?, 6, but got ?, 7}}
  %x = seq.embedding %tokens, %table
      : (tensor<?xi32>, tensor<11x6xbf16>) -> tensor<?x7xf32>
  return
}

// -----

func.func @embedding1_other_tokens(%tokens: tensor<5xi32>, %table: tensor<11x6xbf16>) {
  // expected-error @+1 {{expects 'y' of shape T,D = 5, 6, but got ?, 6}}
  %x = seq.embedding %tokens, %table
      : (tensor<5xi32>, tensor<11x6xbf16>) -> tensor<?x6xf32>
  return
}
