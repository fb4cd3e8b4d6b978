// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

// expected-error @+1 {{expects 'rank' of at least 1, but got 0}}
func.func private @semiseparable1(!seq.semiseparable<heads = 6, rank = 0, decay = none>)

// -----

// expected-error @+1 {{expects 'decay' to be none, head_constant or head, but got key}}
func.func private @semiseparable2(!seq.semiseparable<heads = 6, rank = 3, decay = key>)

// -----

func.func @decaymatrix1(%g: tensor<?x6x3xf32>) {
  // expected-error @+1 {{expects 'log_decay' of shape T,H or H, but got ?, 6, 3}}
  %m = seq.decay_matrix %g : tensor<?x6x3xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  return
}

// -----

func.func @decaymatrix2(%g: tensor<6xf32>) {
  // expected-error @+1 {{expects 'matrix' of type '!seq.semiseparable<heads = 6, rank = 1, decay = head_constant>', but got '!seq.semiseparable<heads = 6, rank = 1, decay = head>'}}
  %m = seq.decay_matrix %g : tensor<6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  return
}

// -----

func.func @rankmatrix1() {
  // expected-error @+1 {{expects 'rows', 'columns' or both, but got neither}}
  %m = seq.rank_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none>
  return
}

// -----

func.func @rankmatrix2(%c: tensor<?x6x3xf32>) {
  // expected-error @+1 {{expects 'rows' of shape T,H,N = T, H, 1, but got ?, 6, 3}}
  %m = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  return
}

// -----

func.func @rankmatrix3(%c: tensor<?x6x3xf32>) {
  // expected-error @+1 {{expects 'matrix' of type '!seq.semiseparable<heads = 6, rank = 3, decay = none>', but got '!seq.semiseparable<heads = 3, rank = 6, decay = none>'}}
  %m = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) columns(%c : tensor<?x6x3xf32>) -> !seq.semiseparable<heads = 3, rank = 6, decay = none>
  return
}

// -----

func.func @hadamard1(%g: tensor<?x6xf32>, %c: tensor<?x2x1xf32>) {
  %a = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  %b = seq.rank_matrix rows(%c : tensor<?x2x1xf32>) -> !seq.semiseparable<heads = 2, rank = 1, decay = none>
  // expected-error @+1 {{expects matrices of as many heads, but got 6 and 2}}
  %m = seq.hadamard %a, %b : !seq.semiseparable<heads = 6, rank = 1, decay = head>,
      !seq.semiseparable<heads = 2, rank = 1, decay = none> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  return
}

// -----

func.func @hadamard2(%c: tensor<?x6x3xf32>) {
  %a = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) columns(%c : tensor<?x6x3xf32>) -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  // expected-error @+1 {{expects one of two matrices to be of rank 1, but got ranks 3 and 3: their product would have to be materialised}}
  %m = seq.hadamard %a, %a : !seq.semiseparable<heads = 6, rank = 3, decay = none>,
      !seq.semiseparable<heads = 6, rank = 3, decay = none> -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  return
}

// -----

func.func @hadamard3(%g: tensor<6xf32>) {
  %a = seq.decay_matrix %g : tensor<6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head_constant>
  // expected-error @+1 {{expects 'matrix' of type '!seq.semiseparable<heads = 6, rank = 1, decay = head_constant>', but got '!seq.semiseparable<heads = 6, rank = 1, decay = none>'}}
  %m = seq.hadamard %a, %a : !seq.semiseparable<heads = 6, rank = 1, decay = head_constant>,
      !seq.semiseparable<heads = 6, rank = 1, decay = head_constant> -> !seq.semiseparable<heads = 6, rank = 1, decay = none>
  return
}

// -----

func.func @apply1(%g: tensor<?x6xf32>, %x: tensor<?x2x5xf32>, %s: tensor<6x1x5xf32>) {
  %a = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  // expected-error @+1 {{expects 'x' of shape T,H,V = T, 6, V, but got ?, 2, 5}}
  %y, %n = seq.apply %a, %x state(%s) : !seq.semiseparable<heads = 6, rank = 1, decay = head>, tensor<?x2x5xf32>, tensor<6x1x5xf32>
  return
}

// -----

func.func @apply2(%g: tensor<?x6xf32>, %x: tensor<?x6x5xf32>, %s: tensor<6x3x5xf32>) {
  %a = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  // expected-error @+1 {{expects 'state' of shape H,N,V = 6, 1, 5, but got 6, 3, 5}}
  %y, %n = seq.apply %a, %x state(%s) : !seq.semiseparable<heads = 6, rank = 1, decay = head>, tensor<?x6x5xf32>, tensor<6x3x5xf32>
  return
}

// -----

func.func @apply3(%a: !seq.semiseparable<heads = 6, rank = 1, decay = head>, %x: tensor<?x6x5xf32>, %s: tensor<6x1x5xf32>) {
  // expected-error @+1 {{expects a matrix that is built by 'seq.decay_matrix', 'seq.rank_matrix' or up to 256 'seq.hadamard'; this one would have to be materialised}}
  %y, %n = seq.apply %a, %x state(%s) : !seq.semiseparable<heads = 6, rank = 1, decay = head>, tensor<?x6x5xf32>, tensor<6x1x5xf32>
  return
}

// -----

// expected-error @+1 {{expects 'band' of at least 1, or 0 for none, but got -1}}
func.func private @semiseparable3(!seq.semiseparable<heads = 6, rank = 1, decay = none, band = -1>)

// -----

func.func @bandmatrix1_no_band() {
  // expected-error @+1 {{expects 'matrix' with a 'band', but got '!seq.semiseparable<heads = 6, rank = 1, decay = none>'}}
  %m = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none>
  return
}

// -----

func.func @bandmatrix1_rank() {
  // expected-error @+1 {{expects 'matrix' of type '!seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>', but got '!seq.semiseparable<heads = 6, rank = 3, decay = none, band = 4>'}}
  %m = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 3, decay = none, band = 4>
  return
}

// -----

func.func @hadamard3_wider_band() {
  %a = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
  %b = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 9>
  // expected-error @+1 {{expects 'matrix' of type '!seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>', but got '!seq.semiseparable<heads = 6, rank = 1, decay = none, band = 9>'}}
  %m = seq.hadamard %a, %b : !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>,
      !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 9> -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 9>
  return
}

// -----

func.func @apply4(%x: tensor<?x6x5xf32>, %s: tensor<6x1x5xf32>) {
  %a = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
  // expected-error @+1 {{expects a matrix without a band, but got a band of 4, whose product is 'seq.apply_band'}}
  %y, %n = seq.apply %a, %x state(%s) : !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>, tensor<?x6x5xf32>, tensor<6x1x5xf32>
  return
}

// -----

func.func @applyband1(%x: tensor<?x2x5xf32>, %p: tensor<?xi32>, %k: tensor<6x1x4xf32>, %v: tensor<6x4x5xf32>) {
  %m = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
  // expected-error @+1 {{expects 'x' of shape T,H,V = T, 6, V, but got ?, 2, 5}}
  %r:3 = seq.apply_band %m, %x positions(%p) states(%k, %v)
      : !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>, tensor<?x2x5xf32>, tensor<?xi32>, tensor<6x1x4xf32>, tensor<6x4x5xf32>
  return
}

// -----

func.func @applyband2(%x: tensor<?x6x5xf32>, %p: tensor<7xi32>, %k: tensor<6x1x4xf32>, %v: tensor<6x4x5xf32>) {
  %m = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
  // expected-error @+1 {{expects 'positions' of shape T = ?, but got 7}}
  %r:3 = seq.apply_band %m, %x positions(%p) states(%k, %v)
      : !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>, tensor<?x6x5xf32>, tensor<7xi32>, tensor<6x1x4xf32>, tensor<6x4x5xf32>
  return
}

// -----

func.func @applyband3(%x: tensor<?x6x5xf32>, %p: tensor<?xi32>, %k: tensor<6x1x3xf32>, %v: tensor<6x4x5xf32>) {
  %m = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
  // expected-error @+1 {{expects 'keys' of shape H,N,W = 6, 1, 4, but got 6, 1, 3}}
  %r:3 = seq.apply_band %m, %x positions(%p) states(%k, %v)
      : !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x1x3xf32>, tensor<6x4x5xf32>
  return
}

// -----

func.func @applyband4(%x: tensor<?x6x5xf32>, %p: tensor<?xi32>, %k: tensor<6x1x4xf32>, %v: tensor<6x4x7xf32>) {
  %m = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
  // expected-error @+1 {{expects 'values' of shape H,W,V = 6, 4, 5, but got 6, 4, 7}}
  %r:3 = seq.apply_band %m, %x positions(%p) states(%k, %v)
      : !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x1x4xf32>, tensor<6x4x7xf32>
  return
}

// -----

func.func @applyband5_argument(%m: !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>, %x: tensor<?x6x5xf32>, %p: tensor<?xi32>, %k: tensor<6x1x4xf32>, %v: tensor<6x4x5xf32>) {
  // expected-error @+1 {{expects a matrix that is built by 'seq.band_matrix' and up to 256 'seq.hadamard'; this one would have to be materialised}}
  %r:3 = seq.apply_band %m, %x positions(%p) states(%k, %v)
      : !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x1x4xf32>, tensor<6x4x5xf32>
  return
}

// -----

func.func @applyband5_no_band(%g: tensor<?x6xf32>, %x: tensor<?x6x5xf32>, %p: tensor<?xi32>, %k: tensor<6x1x4xf32>, %v: tensor<6x4x5xf32>) {
  %m = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  // expected-error @+1 {{expects a matrix with a band, but got '!seq.semiseparable<heads = 6, rank = 1, decay = head>', whose product is 'seq.apply'}}
  %r:3 = seq.apply_band %m, %x positions(%p) states(%k, %v)
      : !seq.semiseparable<heads = 6, rank = 1, decay = head>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x1x4xf32>, tensor<6x4x5xf32>
  return
}
