// Kernels of several channels: a masked mixer, one with an expanded convolution, and columns of a structured recurrence; then
// parallel heads behind gates of two blocks. Tables of positions and blocks lie as public checkpoints hold them.
module attributes {seq.model = #seq.model<family = "kernels", vocabulary = 61, width = 24, max_context = 100>} {
  seq.weight @embeddings source("embeddings") : tensor<61x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @pairs source("pairs") : tensor<100x100x3xf32>
  seq.weight @shift source("shift") transposed : tensor<100x1xf32>
  seq.weight @first source("first") : tensor<100x100x1xf32>
  seq.weight @second source("second") : tensor<100x100x1xf32>
  seq.weight @taps source("taps") transposed : tensor<100x4xf32>
  seq.weight @shifts source("shifts") transposed : tensor<100x1xf32>
  seq.weight @decay source("decay") : tensor<1xf32>
  seq.weight @targets source("targets") transposed : tensor<100x2xf32>
  seq.weight @biases source("biases") transposed : tensor<100x2xf32>
  seq.weight @decays source("decays") : tensor<2xf32>
  seq.weight @gate source("gate") transposed : tensor<2x12x12xf32>
  seq.weight @offsets source("offsets") : tensor<2x12xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
      %wide: tensor<128x24xf32> {seq.state_name = "wide"}, %one: tensor<128x24xf32> {seq.state_name = "one"}, %two: tensor<128x24xf32> {seq.state_name = "two"},
      %column: tensor<1x1x24xf32> {seq.state_name = "column"}, %sums: tensor<2x1x12xf32> {seq.state_name = "sums"})
      -> (tensor<?x61xf32>, tensor<128x24xf32>, tensor<128x24xf32>, tensor<128x24xf32>, tensor<1x1x24xf32>, tensor<2x1x12xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<61x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %pairs = seq.parameter @pairs : tensor<100x100x3xf32>
    %shift = seq.parameter @shift : tensor<100x1xf32>
    %first = seq.parameter @first : tensor<100x100x1xf32>
    %second = seq.parameter @second : tensor<100x100x1xf32>
    %taps = seq.parameter @taps : tensor<100x4xf32>
    %shifts = seq.parameter @shifts : tensor<100x1xf32>
    %decay = seq.parameter @decay : tensor<1xf32>
    %targets = seq.parameter @targets : tensor<100x2xf32>
    %biases = seq.parameter @biases : tensor<100x2xf32>
    %decays = seq.parameter @decays : tensor<2xf32>
    %gate = seq.parameter @gate : tensor<2x12x12xf32>
    %offsets = seq.parameter @offsets : tensor<2x12xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %s0 = seq.embedding %positions, %shift : (tensor<?xi32>, tensor<100x1xf32>) -> tensor<?x1xf32>
    %s = seq.reshape %s0 : tensor<?x1xf32> -> tensor<?xf32>
    %m, %wide1 = seq.causal_mix %n positions(%positions) parameters(%pairs) state(%wide)
        : (tensor<?x24xf32>, tensor<?xi32>, tensor<100x100x3xf32>, tensor<128x24xf32>) -> (tensor<?x3x24xf32>, tensor<128x24xf32>)
    %c = seq.channel_convolution %m bias(%s) {before = 1 : i64} : (tensor<?x3x24xf32>, tensor<?xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %c : tensor<?x24xf32>
    %n1 = seq.rms_norm %r, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %e0, %one1 = seq.causal_mix %n1 positions(%positions) parameters(%first) state(%one)
        : (tensor<?x24xf32>, tensor<?xi32>, tensor<100x100x1xf32>, tensor<128x24xf32>) -> (tensor<?x1x24xf32>, tensor<128x24xf32>)
    %e1 = seq.gelu %e0 : tensor<?x1x24xf32>
    %e2 = seq.reshape %e1 : tensor<?x1x24xf32> -> tensor<?x24xf32>
    %e3, %two1 = seq.causal_mix %e2 positions(%positions) parameters(%second) state(%two)
        : (tensor<?x24xf32>, tensor<?xi32>, tensor<100x100x1xf32>, tensor<128x24xf32>) -> (tensor<?x1x24xf32>, tensor<128x24xf32>)
    %e4 = seq.reshape %e3 : tensor<?x1x24xf32> -> tensor<?x24xf32>
    %r1 = seq.add %r, %e4 : tensor<?x24xf32>
    %h0 = seq.reshape %r1 : tensor<?x24xf32> -> tensor<?x1x24xf32>
    %h1, %column1 = seq.structured_recurrence %h0 decay(%decay) state(%column) {root = 1 : i64}
        : (tensor<?x1x24xf32>, tensor<1xf32>, tensor<1x1x24xf32>) -> (tensor<?x1x24xf32>, tensor<1x1x24xf32>)
    %h2 = seq.reshape %h1 : tensor<?x1x24xf32> -> tensor<?x24xf32>
    %t = seq.embedding %positions, %taps : (tensor<?xi32>, tensor<100x4xf32>) -> tensor<?x4xf32>
    %u0 = seq.embedding %positions, %shifts : (tensor<?xi32>, tensor<100x1xf32>) -> tensor<?x1xf32>
    %u = seq.reshape %u0 : tensor<?x1xf32> -> tensor<?xf32>
    %h3 = seq.channel_convolution %h2 weight(%t) bias(%u) {before = 3 : i64}
        : (tensor<?x24xf32>, tensor<?x4xf32>, tensor<?xf32>) -> tensor<?x24xf32>
    %n2 = seq.rms_norm %h3, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %k = seq.reshape %n2 : tensor<?x24xf32> -> tensor<?x2x12xf32>
    %g0 = seq.linear %k, %gate bias(%offsets) : (tensor<?x2x12xf32>, tensor<2x12x12xf32>, tensor<2x12xf32>) -> tensor<?x2x12xf32>
    %g1 = seq.sigmoid %g0 : tensor<?x2x12xf32>
    %g = seq.mul %g1, %k : tensor<?x2x12xf32>
    %target = seq.embedding %positions, %targets : (tensor<?xi32>, tensor<100x2xf32>) -> tensor<?x2xf32>
    %bias = seq.embedding %positions, %biases : (tensor<?xi32>, tensor<100x2xf32>) -> tensor<?x2xf32>
    %y, %sums1 = seq.structured_recurrence %g target(%target) bias(%bias) decay(%decays) state(%sums) {root = 1 : i64}
        : (tensor<?x2x12xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<2xf32>, tensor<2x1x12xf32>)
        -> (tensor<?x2x12xf32>, tensor<2x1x12xf32>)
    %y0 = seq.reshape %y : tensor<?x2x12xf32> -> tensor<?x24xf32>
    %z = seq.add %r1, %y0 : tensor<?x24xf32>
    %last = seq.select_rows %z, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<61x24xf32>) -> tensor<?x61xf32>
    return %logits, %wide1, %one1, %two1, %column1, %sums1
        : tensor<?x61xf32>, tensor<128x24xf32>, tensor<128x24xf32>, tensor<128x24xf32>, tensor<1x1x24xf32>, tensor<2x1x12xf32>
  }
}
