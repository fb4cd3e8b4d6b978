// A masked mixer and a structured recurrent mixer of two column and two row heads: weights of absolute positions.
module attributes {seq.model = #seq.model<family = "structured", vocabulary = 61, width = 24, max_context = 100>} {
  seq.weight @embeddings source("embeddings") : tensor<61x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @pairs source("pairs") : tensor<100x100xf32>
  seq.weight @shift source("shift") : tensor<100xf32>
  seq.weight @in source("in") : tensor<24x24xf32>
  seq.weight @targets source("targets") : tensor<100x2xf32>
  seq.weight @sources source("sources") : tensor<100x2xf32>
  seq.weight @biases source("biases") : tensor<100x2xf32>
  seq.weight @decays source("decays") : tensor<2xf32>
  seq.weight @outc source("outc") : tensor<24x12xf32>
  seq.weight @outr source("outr") : tensor<24x12xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>,
      %inputs: tensor<128x24xf32> {seq.state_name = "inputs"},
      %columns: tensor<2x1x6xf32> {seq.state_name = "columns"},
      %sums: tensor<2x1x6xf32> {seq.state_name = "sums"})
      -> (tensor<?x61xf32>, tensor<128x24xf32>, tensor<2x1x6xf32>, tensor<2x1x6xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<61x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %pairs = seq.parameter @pairs : tensor<100x100xf32>
    %shift = seq.parameter @shift : tensor<100xf32>
    %in = seq.parameter @in : tensor<24x24xf32>
    %targets = seq.parameter @targets : tensor<100x2xf32>
    %sources = seq.parameter @sources : tensor<100x2xf32>
    %biases = seq.parameter @biases : tensor<100x2xf32>
    %decays = seq.parameter @decays : tensor<2xf32>
    %outc = seq.parameter @outc : tensor<24x12xf32>
    %outr = seq.parameter @outr : tensor<24x12xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %m, %next_inputs = seq.causal_mix %n positions(%positions) parameters(%pairs, %shift) state(%inputs)
        : (tensor<?x24xf32>, tensor<?xi32>, tensor<100x100xf32>, tensor<100xf32>, tensor<128x24xf32>)
        -> (tensor<?x24xf32>, tensor<128x24xf32>)
    %r = seq.add %x, %m : tensor<?x24xf32>
    %n1 = seq.rms_norm %r, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n1, %in : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
    %c0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 12 : i64} : tensor<?x24xf32> -> tensor<?x12xf32>
    %c = seq.reshape %c0 : tensor<?x12xf32> -> tensor<?x2x6xf32>
    %s0 = seq.slice %p {axis = 1 : i64, offset = 12 : i64, size = 12 : i64} : tensor<?x24xf32> -> tensor<?x12xf32>
    %s = seq.reshape %s0 : tensor<?x12xf32> -> tensor<?x2x6xf32>
    %target = seq.embedding %positions, %targets : (tensor<?xi32>, tensor<100x2xf32>) -> tensor<?x2xf32>
    %source = seq.embedding %positions, %sources : (tensor<?xi32>, tensor<100x2xf32>) -> tensor<?x2xf32>
    %bias = seq.embedding %positions, %biases : (tensor<?xi32>, tensor<100x2xf32>) -> tensor<?x2xf32>
    %yc, %next_columns = seq.structured_recurrence %c target(%target) bias(%bias) decay(%decays) state(%columns)
        {root = 1 : i64}
        : (tensor<?x2x6xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<2xf32>, tensor<2x1x6xf32>)
        -> (tensor<?x2x6xf32>, tensor<2x1x6xf32>)
    %ys, %next_sums = seq.structured_recurrence %s source(%source) bias(%bias) diagonal(%target) decay(%decays)
        state(%sums) {root = 1 : i64}
        : (tensor<?x2x6xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<2xf32>, tensor<2x1x6xf32>)
        -> (tensor<?x2x6xf32>, tensor<2x1x6xf32>)
    %yc0 = seq.reshape %yc : tensor<?x2x6xf32> -> tensor<?x12xf32>
    %ys0 = seq.reshape %ys : tensor<?x2x6xf32> -> tensor<?x12xf32>
    %oc = seq.linear %yc0, %outc : (tensor<?x12xf32>, tensor<24x12xf32>) -> tensor<?x24xf32>
    %os = seq.linear %ys0, %outr : (tensor<?x12xf32>, tensor<24x12xf32>) -> tensor<?x24xf32>
    %o = seq.add %oc, %os : tensor<?x24xf32>
    %z = seq.add %r, %o : tensor<?x24xf32>
    %last = seq.select_rows %z, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<61x24xf32>) -> tensor<?x61xf32>
    return %logits, %next_inputs, %next_columns, %next_sums
        : tensor<?x61xf32>, tensor<128x24xf32>, tensor<2x1x6xf32>, tensor<2x1x6xf32>
  }
}
