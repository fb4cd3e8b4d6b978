// Elementwise recurrences: an RG-LRU, which forgets at position 0, and complex modes.
module attributes {seq.model = #seq.model<family = "elementwise", vocabulary = 61, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<61x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @in source("in") : tensor<72x24xf32>
  seq.weight @rate source("rate") : tensor<3x8xf32>
  seq.weight @out source("out") : tensor<24x24xf32>
  seq.weight @logdt source("logdt") : tensor<1x24xf32>
  seq.weight @loga source("loga") : tensor<1x5x24xf32>
  seq.weight @angles source("angles") : tensor<1x5x24xf32>
  seq.weight @c source("c") : tensor<1x5x24xf32>
  seq.weight @ci source("ci") : tensor<1x5x24xf32>
  seq.weight @d source("d") : tensor<1x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
      %state: tensor<3x1x8xf32> {seq.state_name = "lru"},
      %real: tensor<1x5x24xf32> {seq.state_name = "real"},
      %imaginary: tensor<1x5x24xf32> {seq.state_name = "imaginary"})
      -> (tensor<?x61xf32>, tensor<3x1x8xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<61x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %in = seq.parameter @in : tensor<72x24xf32>
    %rate = seq.parameter @rate : tensor<3x8xf32>
    %out = seq.parameter @out : tensor<24x24xf32>
    %logdt = seq.parameter @logdt : tensor<1x24xf32>
    %loga = seq.parameter @loga : tensor<1x5x24xf32>
    %angles = seq.parameter @angles : tensor<1x5x24xf32>
    %c = seq.parameter @c : tensor<1x5x24xf32>
    %ci = seq.parameter @ci : tensor<1x5x24xf32>
    %d = seq.parameter @d : tensor<1x24xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n, %in : (tensor<?x24xf32>, tensor<72x24xf32>) -> tensor<?x72xf32>
    %u0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 24 : i64} : tensor<?x72xf32> -> tensor<?x24xf32>
    %u = seq.reshape %u0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %r0 = seq.slice %p {axis = 1 : i64, offset = 24 : i64, size = 24 : i64} : tensor<?x72xf32> -> tensor<?x24xf32>
    %r = seq.reshape %r0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %i0 = seq.slice %p {axis = 1 : i64, offset = 48 : i64, size = 24 : i64} : tensor<?x72xf32> -> tensor<?x24xf32>
    %i = seq.reshape %i0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %h, %next_state = seq.rg_lru %u, %r, %i positions(%positions) parameters(%rate) state(%state)
        : (tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?xi32>, tensor<3x8xf32>, tensor<3x1x8xf32>)
        -> (tensor<?x3x8xf32>, tensor<3x1x8xf32>)
    %h0 = seq.reshape %h : tensor<?x3x8xf32> -> tensor<?x24xf32>
    %o = seq.linear %h0, %out : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
    %y = seq.add %x, %o : tensor<?x24xf32>
    %v = seq.reshape %y : tensor<?x24xf32> -> tensor<?x1x24xf32>
    %s, %next:2 = seq.s4d %v parameters(%logdt, %loga, %angles, %c, %ci, %d) state(%real, %imaginary)
        : (tensor<?x1x24xf32>, tensor<1x24xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>,
           tensor<1x5x24xf32>, tensor<1x24xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>)
        -> (tensor<?x1x24xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>)
    %s0 = seq.reshape %s : tensor<?x1x24xf32> -> tensor<?x24xf32>
    %z = seq.add %y, %s0 : tensor<?x24xf32>
    %last = seq.select_rows %z, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<61x24xf32>) -> tensor<?x61xf32>
    return %logits, %next_state, %next#0, %next#1
        : tensor<?x61xf32>, tensor<3x1x8xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>
  }
}
