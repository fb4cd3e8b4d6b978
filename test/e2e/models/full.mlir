// Attention over all keys: learned positions, one key head, a value head of its own for each head, capped scores, sinks.
module attributes {seq.model = #seq.model<family = "full", vocabulary = 61, width = 24, max_context = 100>} {
  seq.weight @embeddings source("embeddings") : tensor<61x24xf32>
  seq.weight @places source("places") : tensor<100x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @in source("in") : tensor<60x24xf32>
  seq.weight @sinks source("sinks") : tensor<4xf32>
  seq.weight @slopes computed(#seq.head_decays<rule = alibi, negated = true>) : tensor<4xf32>
  seq.weight @out source("out") : tensor<24x20xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
      %keys: tensor<128x1x8xf32> {seq.state_name = "keys"},
      %values: tensor<128x4x5xf32> {seq.state_name = "values"})
      -> (tensor<?x61xf32>, tensor<128x1x8xf32>, tensor<128x4x5xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<61x24xf32>
    %places = seq.parameter @places : tensor<100x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %in = seq.parameter @in : tensor<60x24xf32>
    %sinks = seq.parameter @sinks : tensor<4xf32>
    %slopes = seq.parameter @slopes : tensor<4xf32>
    %out = seq.parameter @out : tensor<24x20xf32>
    %e = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %at = seq.embedding %positions, %places : (tensor<?xi32>, tensor<100x24xf32>) -> tensor<?x24xf32>
    %x = seq.add %e, %at : tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n, %in : (tensor<?x24xf32>, tensor<60x24xf32>) -> tensor<?x60xf32>
    %q0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 32 : i64} : tensor<?x60xf32> -> tensor<?x32xf32>
    %q = seq.reshape %q0 : tensor<?x32xf32> -> tensor<?x4x8xf32>
    %k0 = seq.slice %p {axis = 1 : i64, offset = 32 : i64, size = 8 : i64} : tensor<?x60xf32> -> tensor<?x8xf32>
    %k = seq.reshape %k0 : tensor<?x8xf32> -> tensor<?x1x8xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 40 : i64, size = 20 : i64} : tensor<?x60xf32> -> tensor<?x20xf32>
    %v = seq.reshape %v0 : tensor<?x20xf32> -> tensor<?x4x5xf32>
    %y, %next_keys, %next_values = seq.attention %q, %k, %v positions(%positions) sinks(%sinks) slopes(%slopes)
        states(%keys, %values) {scale = 0.35 : f64, soft_cap = 2.0 : f64}
        : (tensor<?x4x8xf32>, tensor<?x1x8xf32>, tensor<?x4x5xf32>, tensor<?xi32>, tensor<4xf32>, tensor<4xf32>,
           tensor<128x1x8xf32>, tensor<128x4x5xf32>)
        -> (tensor<?x4x5xf32>, tensor<128x1x8xf32>, tensor<128x4x5xf32>)
    %y0 = seq.reshape %y : tensor<?x4x5xf32> -> tensor<?x20xf32>
    %o = seq.linear %y0, %out : (tensor<?x20xf32>, tensor<24x20xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %last = seq.select_rows %r, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<61x24xf32>) -> tensor<?x61xf32>
    return %logits, %next_keys, %next_values : tensor<?x61xf32>, tensor<128x1x8xf32>, tensor<128x4x5xf32>
  }
}
