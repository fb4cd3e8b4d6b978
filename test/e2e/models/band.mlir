// Attention over the last 6 tokens without a softmax, written as a matrix: rank 5 under a mask of decays and a band.
module attributes {seq.model = #seq.model<family = "band", vocabulary = 53, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<53x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @in source("in") : tensor<57x24xf32>
  seq.weight @out source("out") : tensor<24x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
      %keys: tensor<3x5x6xf32> {seq.state_name = "keys"}, %values: tensor<3x6x8xf32> {seq.state_name = "values"})
      -> (tensor<?x53xf32>, tensor<3x5x6xf32>, tensor<3x6x8xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<53x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %in = seq.parameter @in : tensor<57x24xf32>
    %out = seq.parameter @out : tensor<24x24xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<53x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n, %in : (tensor<?x24xf32>, tensor<57x24xf32>) -> tensor<?x57xf32>
    %c0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 15 : i64} : tensor<?x57xf32> -> tensor<?x15xf32>
    %c = seq.reshape %c0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %b0 = seq.slice %p {axis = 1 : i64, offset = 15 : i64, size = 15 : i64} : tensor<?x57xf32> -> tensor<?x15xf32>
    %b = seq.reshape %b0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 30 : i64, size = 24 : i64} : tensor<?x57xf32> -> tensor<?x24xf32>
    %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %g0 = seq.slice %p {axis = 1 : i64, offset = 54 : i64, size = 3 : i64} : tensor<?x57xf32> -> tensor<?x3xf32>
    %g = seq.log_sigmoid %g0 : tensor<?x3xf32>
    %cb = seq.rank_matrix rows(%c : tensor<?x3x5xf32>) columns(%b : tensor<?x3x5xf32>) -> !seq.semiseparable<heads = 3, rank = 5, decay = none>
    %mask = seq.decay_matrix %g : tensor<?x3xf32> -> !seq.semiseparable<heads = 3, rank = 1, decay = head>
    %band = seq.band_matrix -> !seq.semiseparable<heads = 3, rank = 1, decay = none, band = 6>
    %m0 = seq.hadamard %cb, %mask : !seq.semiseparable<heads = 3, rank = 5, decay = none>, !seq.semiseparable<heads = 3, rank = 1, decay = head> -> !seq.semiseparable<heads = 3, rank = 5, decay = head>
    %m = seq.hadamard %m0, %band : !seq.semiseparable<heads = 3, rank = 5, decay = head>, !seq.semiseparable<heads = 3, rank = 1, decay = none, band = 6>
        -> !seq.semiseparable<heads = 3, rank = 5, decay = head, band = 6>
    %y, %k, %u = seq.apply_band %m, %v positions(%positions) states(%keys, %values)
        : !seq.semiseparable<heads = 3, rank = 5, decay = head, band = 6>, tensor<?x3x8xf32>, tensor<?xi32>,
          tensor<3x5x6xf32>, tensor<3x6x8xf32>
    %y0 = seq.reshape %y : tensor<?x3x8xf32> -> tensor<?x24xf32>
    %o = seq.linear %y0, %out : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %last = seq.select_rows %r, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<53x24xf32>) -> tensor<?x53xf32>
    return %logits, %k, %u : tensor<?x53xf32>, tensor<3x5x6xf32>, tensor<3x6x8xf32>
  }
}
