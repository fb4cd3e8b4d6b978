// State-space duality written as a matrix: rank 5 under a mask of decays; what is written is weighted, column by column.
module attributes {seq.model = #seq.model<family = "dual", vocabulary = 53, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<53x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @in source("in") : tensor<60x24xf32>
  seq.weight @out source("out") : tensor<24x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
      %s: tensor<3x5x8xf32> {seq.state_name = "dual"}) -> (tensor<?x53xf32>, tensor<3x5x8xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<53x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %in = seq.parameter @in : tensor<60x24xf32>
    %out = seq.parameter @out : tensor<24x24xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<53x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n, %in : (tensor<?x24xf32>, tensor<60x24xf32>) -> tensor<?x60xf32>
    %c0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 15 : i64} : tensor<?x60xf32> -> tensor<?x15xf32>
    %c = seq.reshape %c0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %b0 = seq.slice %p {axis = 1 : i64, offset = 15 : i64, size = 15 : i64} : tensor<?x60xf32> -> tensor<?x15xf32>
    %b = seq.reshape %b0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 30 : i64, size = 24 : i64} : tensor<?x60xf32> -> tensor<?x24xf32>
    %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %g0 = seq.slice %p {axis = 1 : i64, offset = 54 : i64, size = 3 : i64} : tensor<?x60xf32> -> tensor<?x3xf32>
    %g = seq.log_sigmoid %g0 : tensor<?x3xf32>
    %w0 = seq.slice %p {axis = 1 : i64, offset = 57 : i64, size = 3 : i64} : tensor<?x60xf32> -> tensor<?x3xf32>
    %w1 = seq.sigmoid %w0 : tensor<?x3xf32>
    %w = seq.reshape %w1 : tensor<?x3xf32> -> tensor<?x3x1xf32>
    %cb = seq.rank_matrix rows(%c : tensor<?x3x5xf32>) columns(%b : tensor<?x3x5xf32>) -> !seq.semiseparable<heads = 3, rank = 5, decay = none>
    %mask = seq.decay_matrix %g : tensor<?x3xf32> -> !seq.semiseparable<heads = 3, rank = 1, decay = head>
    %weights = seq.rank_matrix columns(%w : tensor<?x3x1xf32>) -> !seq.semiseparable<heads = 3, rank = 1, decay = none>
    %m0 = seq.hadamard %cb, %mask : !seq.semiseparable<heads = 3, rank = 5, decay = none>, !seq.semiseparable<heads = 3, rank = 1, decay = head> -> !seq.semiseparable<heads = 3, rank = 5, decay = head>
    %m = seq.hadamard %m0, %weights : !seq.semiseparable<heads = 3, rank = 5, decay = head>, !seq.semiseparable<heads = 3, rank = 1, decay = none> -> !seq.semiseparable<heads = 3, rank = 5, decay = head>
    %y, %next = seq.apply %m, %v state(%s) : !seq.semiseparable<heads = 3, rank = 5, decay = head>, tensor<?x3x8xf32>, tensor<3x5x8xf32>
    %y0 = seq.reshape %y : tensor<?x3x8xf32> -> tensor<?x24xf32>
    %o = seq.linear %y0, %out : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %last = seq.select_rows %r, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<53x24xf32>) -> tensor<?x53xf32>
    return %logits, %next : tensor<?x53xf32>, tensor<3x5x8xf32>
  }
}
