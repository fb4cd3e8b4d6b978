// A layer with a decay per head, then attention over a window of 19 keys, each with a number that is added to its scores;
// the 7 keys of the largest numbers count. Past 40 tokens positions are turned by the length up to each.
module attributes {seq.model = #seq.model<family = "hybrid", vocabulary = 61, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<61x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @in source("in") : tensor<57x24xf32>
  seq.weight @out source("out") : tensor<24x24xf32>
  seq.weight @second source("second") : tensor<24xf32>
  seq.weight @attend source("attend") : tensor<59x24xf32>
  seq.weight @frequencies computed(#seq.rotary_frequencies<scaling = dynamic_steps, theta = 1.0e3 : f64, factor = 2.0 : f64,
      original_context = 40>) : tensor<128x4xf32>
  seq.weight @back source("back") : tensor<24x20xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
      %state: tensor<3x5x8xf32> {seq.state_name = "layers.0.retention"},
      %keys: tensor<64x2x8xf32> {seq.state_name = "layers.1.keys"},
      %values: tensor<64x2x5xf32> {seq.state_name = "layers.1.values"},
      %numbers: tensor<64x1xf32> {seq.state_name = "layers.1.numbers"})
      -> (tensor<?x61xf32>, tensor<3x5x8xf32>, tensor<64x2x8xf32>, tensor<64x2x5xf32>, tensor<64x1xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<61x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %in = seq.parameter @in : tensor<57x24xf32>
    %out = seq.parameter @out : tensor<24x24xf32>
    %second = seq.parameter @second : tensor<24xf32>
    %attend = seq.parameter @attend : tensor<59x24xf32>
    %frequencies = seq.parameter @frequencies : tensor<128x4xf32>
    %back = seq.parameter @back : tensor<24x20xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n, %in : (tensor<?x24xf32>, tensor<57x24xf32>) -> tensor<?x57xf32>
    %q0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 15 : i64} : tensor<?x57xf32> -> tensor<?x15xf32>
    %q = seq.reshape %q0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %k0 = seq.slice %p {axis = 1 : i64, offset = 15 : i64, size = 15 : i64} : tensor<?x57xf32> -> tensor<?x15xf32>
    %k = seq.reshape %k0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 30 : i64, size = 24 : i64} : tensor<?x57xf32> -> tensor<?x24xf32>
    %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %g = seq.slice %p {axis = 1 : i64, offset = 54 : i64, size = 3 : i64} : tensor<?x57xf32> -> tensor<?x3xf32>
    %y, %next = seq.gated_retention %q, %k, %v, %g state(%state) {scale = 0.45 : f64}
        : (tensor<?x3x5xf32>, tensor<?x3x5xf32>, tensor<?x3x8xf32>, tensor<?x3xf32>, tensor<3x5x8xf32>)
        -> (tensor<?x3x8xf32>, tensor<3x5x8xf32>)
    %y0 = seq.reshape %y : tensor<?x3x8xf32> -> tensor<?x24xf32>
    %o = seq.linear %y0, %out : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %m = seq.rms_norm %r, %second {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %ap = seq.linear %m, %attend : (tensor<?x24xf32>, tensor<59x24xf32>) -> tensor<?x59xf32>
    %aq0 = seq.slice %ap {axis = 1 : i64, offset = 0 : i64, size = 32 : i64} : tensor<?x59xf32> -> tensor<?x32xf32>
    %aq1 = seq.reshape %aq0 : tensor<?x32xf32> -> tensor<?x4x8xf32>
    %aq = seq.rotary interleaved %aq1 at(%positions), %frequencies {amplitude = 1.0 : f64} : tensor<?x4x8xf32>, tensor<?xi32>, tensor<128x4xf32>
    %ak0 = seq.slice %ap {axis = 1 : i64, offset = 32 : i64, size = 16 : i64} : tensor<?x59xf32> -> tensor<?x16xf32>
    %ak1 = seq.reshape %ak0 : tensor<?x16xf32> -> tensor<?x2x8xf32>
    %ak = seq.rotary interleaved %ak1 at(%positions), %frequencies {amplitude = 1.0 : f64} : tensor<?x2x8xf32>, tensor<?xi32>, tensor<128x4xf32>
    %av0 = seq.slice %ap {axis = 1 : i64, offset = 48 : i64, size = 10 : i64} : tensor<?x59xf32> -> tensor<?x10xf32>
    %av = seq.reshape %av0 : tensor<?x10xf32> -> tensor<?x2x5xf32>
    %ad = seq.slice %ap {axis = 1 : i64, offset = 58 : i64, size = 1 : i64} : tensor<?x59xf32> -> tensor<?x1xf32>
    %ay, %next_keys, %next_values, %next_numbers = seq.attention %aq, %ak, %av positions(%positions) numbers(%ad)
        states(%keys, %values, %numbers) {window = 19 : i64, scale = 0.35 : f64, key_score = #seq.key_score<bias>, keep = 7 : i64}
        : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?x2x5xf32>, tensor<?xi32>, tensor<?x1xf32>,
           tensor<64x2x8xf32>, tensor<64x2x5xf32>, tensor<64x1xf32>)
        -> (tensor<?x4x5xf32>, tensor<64x2x8xf32>, tensor<64x2x5xf32>, tensor<64x1xf32>)
    %ay0 = seq.reshape %ay : tensor<?x4x5xf32> -> tensor<?x20xf32>
    %ao = seq.linear %ay0, %back : (tensor<?x20xf32>, tensor<24x20xf32>) -> tensor<?x24xf32>
    %s = seq.add %r, %ao : tensor<?x24xf32>
    %last = seq.select_rows %s, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<61x24xf32>) -> tensor<?x61xf32>
    return %logits, %next, %next_keys, %next_values, %next_numbers
        : tensor<?x61xf32>, tensor<3x5x8xf32>, tensor<64x2x8xf32>, tensor<64x2x5xf32>, tensor<64x1xf32>
  }
}
