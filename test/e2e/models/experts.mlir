// Gated linear attention, then one-neuron experts chosen by product keys beside a shared layer.
module attributes {seq.model = #seq.model<family = "experts", vocabulary = 61, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<61x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @in source("in") : tensor<69x24xf32>
  seq.weight @out source("out") : tensor<24x24xf32>
  seq.weight @second source("second") : tensor<24xf32>
  seq.weight @gate source("gate") : tensor<20x24xf32>
  seq.weight @up source("up") : tensor<20x24xf32>
  seq.weight @down source("down") : tensor<24x20xf32>
  seq.weight @query source("query") : tensor<30x24xf32>
  seq.weight @expertkeys source("expertkeys") : tensor<21x10xf32>
  seq.weight @read source("read") : tensor<49x24xf32>
  seq.weight @written source("written") : tensor<49x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
      %state: tensor<3x5x8xf32> {seq.state_name = "gated"}) -> (tensor<?x61xf32>, tensor<3x5x8xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<61x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %in = seq.parameter @in : tensor<69x24xf32>
    %out = seq.parameter @out : tensor<24x24xf32>
    %second = seq.parameter @second : tensor<24xf32>
    %gate = seq.parameter @gate : tensor<20x24xf32>
    %up = seq.parameter @up : tensor<20x24xf32>
    %down = seq.parameter @down : tensor<24x20xf32>
    %query = seq.parameter @query : tensor<30x24xf32>
    %expertkeys = seq.parameter @expertkeys : tensor<21x10xf32>
    %read = seq.parameter @read : tensor<49x24xf32>
    %written = seq.parameter @written : tensor<49x24xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n, %in : (tensor<?x24xf32>, tensor<69x24xf32>) -> tensor<?x69xf32>
    %q0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 15 : i64} : tensor<?x69xf32> -> tensor<?x15xf32>
    %q = seq.reshape %q0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %k0 = seq.slice %p {axis = 1 : i64, offset = 15 : i64, size = 15 : i64} : tensor<?x69xf32> -> tensor<?x15xf32>
    %k = seq.reshape %k0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 30 : i64, size = 24 : i64} : tensor<?x69xf32> -> tensor<?x24xf32>
    %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %a0 = seq.slice %p {axis = 1 : i64, offset = 54 : i64, size = 15 : i64} : tensor<?x69xf32> -> tensor<?x15xf32>
    %a = seq.reshape %a0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%a) state(%state) {scale = 0.45 : f64}
        : (tensor<?x3x5xf32>, tensor<?x3x5xf32>, tensor<?x3x8xf32>, tensor<?x3x5xf32>, tensor<3x5x8xf32>)
        -> (tensor<?x3x8xf32>, tensor<3x5x8xf32>)
    %y0 = seq.reshape %y : tensor<?x3x8xf32> -> tensor<?x24xf32>
    %o = seq.linear %y0, %out : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %m = seq.rms_norm %r, %second {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %g0 = seq.linear %m, %gate : (tensor<?x24xf32>, tensor<20x24xf32>) -> tensor<?x20xf32>
    %g = seq.silu %g0 : tensor<?x20xf32>
    %u = seq.linear %m, %up : (tensor<?x24xf32>, tensor<20x24xf32>) -> tensor<?x20xf32>
    %h = seq.mul %g, %u : tensor<?x20xf32>
    %d = seq.linear %h, %down : (tensor<?x20xf32>, tensor<24x20xf32>) -> tensor<?x24xf32>
    %eq = seq.linear %m, %query : (tensor<?x24xf32>, tensor<30x24xf32>) -> tensor<?x30xf32>
    %scores = seq.key_scores %eq, %expertkeys {layout = #seq.key_layout<half_head>}
        : (tensor<?x30xf32>, tensor<21x10xf32>) -> tensor<?x2x3x7xf32>
    %routed = seq.product_key_experts %m, %scores parameters(%read, %written)
        {top_k = 4 : i64, nonlinearity = #seq.nonlinearity<silu>}
        : (tensor<?x24xf32>, tensor<?x2x3x7xf32>), (tensor<49x24xf32>, tensor<49x24xf32>)
    %mixed = seq.add %d, %routed : tensor<?x24xf32>
    %e = seq.add %r, %mixed : tensor<?x24xf32>
    %last = seq.select_rows %e, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<61x24xf32>) -> tensor<?x61xf32>
    return %logits, %next : tensor<?x61xf32>, tensor<3x5x8xf32>
  }
}
