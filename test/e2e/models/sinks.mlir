// Grouped-query attention over a window of 11 keys and the first 4, with rotary positions by places in a cache of these, then a gated layer.
module attributes {seq.model = #seq.model<family = "sinks", vocabulary = 61, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<61x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @in source("in") : tensor<74x24xf32>
  seq.weight @frequencies computed(#seq.rotary_frequencies<scaling = default, theta = 1.0e2 : f64>) : tensor<3xf32>
  seq.weight @out source("out") : tensor<24x30xf32>
  seq.weight @second source("second") : tensor<24xf32>
  seq.weight @gate source("gate") : tensor<40x24xf32>
  seq.weight @up source("up") : tensor<40x24xf32>
  seq.weight @down source("down") : tensor<24x40xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
      %keys: tensor<32x2x8xf32> {seq.state_name = "keys"},
      %values: tensor<32x2x5xf32> {seq.state_name = "values"},
      %first_keys: tensor<4x2x8xf32> {seq.state_name = "first_keys"},
      %first_values: tensor<4x2x5xf32> {seq.state_name = "first_values"})
      -> (tensor<?x61xf32>, tensor<32x2x8xf32>, tensor<32x2x5xf32>, tensor<4x2x8xf32>, tensor<4x2x5xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<61x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %in = seq.parameter @in : tensor<74x24xf32>
    %frequencies = seq.parameter @frequencies : tensor<3xf32>
    %out = seq.parameter @out : tensor<24x30xf32>
    %second = seq.parameter @second : tensor<24xf32>
    %gate = seq.parameter @gate : tensor<40x24xf32>
    %up = seq.parameter @up : tensor<40x24xf32>
    %down = seq.parameter @down : tensor<24x40xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n, %in : (tensor<?x24xf32>, tensor<74x24xf32>) -> tensor<?x74xf32>
    %q0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 48 : i64} : tensor<?x74xf32> -> tensor<?x48xf32>
    %q1 = seq.reshape %q0 : tensor<?x48xf32> -> tensor<?x6x8xf32>
    %q = seq.rotary half %q1 at(%positions), %frequencies {amplitude = 1.0 : f64} : tensor<?x6x8xf32>, tensor<?xi32>, tensor<3xf32>
    %sq = seq.rotary half %q1 at(%positions), %frequencies {last = 14 : i64} : tensor<?x6x8xf32>, tensor<?xi32>, tensor<3xf32>
    %k0 = seq.slice %p {axis = 1 : i64, offset = 48 : i64, size = 16 : i64} : tensor<?x74xf32> -> tensor<?x16xf32>
    %k1 = seq.reshape %k0 : tensor<?x16xf32> -> tensor<?x2x8xf32>
    %k = seq.rotary half %k1 at(%positions), %frequencies {amplitude = 1.0 : f64} : tensor<?x2x8xf32>, tensor<?xi32>, tensor<3xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 64 : i64, size = 10 : i64} : tensor<?x74xf32> -> tensor<?x10xf32>
    %v = seq.reshape %v0 : tensor<?x10xf32> -> tensor<?x2x5xf32>
    %y, %next_keys, %next_values, %next_first_keys, %next_first_values = seq.attention %q, %k, %v positions(%positions)
        sink_query(%sq) states(%keys, %values) sink_states(%first_keys, %first_values) {window = 11 : i64, scale = 0.35 : f64}
        : (tensor<?x6x8xf32>, tensor<?x2x8xf32>, tensor<?x2x5xf32>, tensor<?xi32>, tensor<?x6x8xf32>, tensor<32x2x8xf32>,
           tensor<32x2x5xf32>, tensor<4x2x8xf32>, tensor<4x2x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<32x2x8xf32>, tensor<32x2x5xf32>, tensor<4x2x8xf32>, tensor<4x2x5xf32>)
    %y0 = seq.reshape %y : tensor<?x6x5xf32> -> tensor<?x30xf32>
    %o = seq.linear %y0, %out : (tensor<?x30xf32>, tensor<24x30xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %m = seq.rms_norm %r, %second {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %g0 = seq.linear %m, %gate : (tensor<?x24xf32>, tensor<40x24xf32>) -> tensor<?x40xf32>
    %g = seq.silu %g0 : tensor<?x40xf32>
    %u = seq.linear %m, %up : (tensor<?x24xf32>, tensor<40x24xf32>) -> tensor<?x40xf32>
    %h = seq.mul %g, %u : tensor<?x40xf32>
    %d = seq.linear %h, %down : (tensor<?x40xf32>, tensor<24x40xf32>) -> tensor<?x24xf32>
    %e = seq.add %r, %d : tensor<?x24xf32>
    %last = seq.select_rows %e, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<61x24xf32>) -> tensor<?x61xf32>
    return %logits, %next_keys, %next_values, %next_first_keys, %next_first_values
        : tensor<?x61xf32>, tensor<32x2x8xf32>, tensor<32x2x5xf32>, tensor<4x2x8xf32>, tensor<4x2x5xf32>
  }
}
