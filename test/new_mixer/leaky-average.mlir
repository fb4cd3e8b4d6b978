// One layer of the mixer of this folder.
module attributes {seq.model = #seq.model<family = "leaky", vocabulary = 53, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<53x24xf32>
  seq.weight @in source("in") : tensor<57x24xf32>
  seq.weight @out source("out") : tensor<24x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
      %s: tensor<3x5x8xf32> {seq.state_name = "leaky"}) -> (tensor<?x53xf32>, tensor<3x5x8xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<53x24xf32>
    %in = seq.parameter @in : tensor<57x24xf32>
    %out = seq.parameter @out : tensor<24x24xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<53x24xf32>) -> tensor<?x24xf32>
    %p = seq.linear %x, %in : (tensor<?x24xf32>, tensor<57x24xf32>) -> tensor<?x57xf32>
    %q0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 15 : i64} : tensor<?x57xf32> -> tensor<?x15xf32>
    %q = seq.reshape %q0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %k0 = seq.slice %p {axis = 1 : i64, offset = 15 : i64, size = 15 : i64} : tensor<?x57xf32> -> tensor<?x15xf32>
    %k = seq.reshape %k0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 30 : i64, size = 24 : i64} : tensor<?x57xf32> -> tensor<?x24xf32>
    %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %g = seq.slice %p {axis = 1 : i64, offset = 54 : i64, size = 3 : i64} : tensor<?x57xf32> -> tensor<?x3xf32>
    %y, %next = seq.leaky_average %q, %k, %v, %g state(%s)
        : (tensor<?x3x5xf32>, tensor<?x3x5xf32>, tensor<?x3x8xf32>, tensor<?x3xf32>, tensor<3x5x8xf32>)
        -> (tensor<?x3x8xf32>, tensor<3x5x8xf32>)
    %y0 = seq.reshape %y : tensor<?x3x8xf32> -> tensor<?x24xf32>
    %o = seq.linear %y0, %out : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %last = seq.select_rows %r, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<53x24xf32>) -> tensor<?x53xf32>
    return %logits, %next : tensor<?x53xf32>, tensor<3x5x8xf32>
  }
}
