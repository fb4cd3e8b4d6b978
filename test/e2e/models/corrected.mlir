// A mixer of no paper: decays per head and key channel; each token corrects what its query would read.
#h = affine_map<(h, v) -> (h)>
#hv2 = affine_map<(h, v) -> (h, v)>
#head = affine_map<(h, k, v) -> (h)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
module attributes {seq.model = #seq.model<family = "corrected", vocabulary = 61, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<61x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @in source("in") : tensor<72x24xf32>
  seq.weight @out source("out") : tensor<24x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
      %s0: tensor<3x5x8xf32> {seq.state_name = "corrected"}) -> (tensor<?x61xf32>, tensor<3x5x8xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<61x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %in = seq.parameter @in : tensor<72x24xf32>
    %out = seq.parameter @out : tensor<24x24xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n, %in : (tensor<?x24xf32>, tensor<72x24xf32>) -> tensor<?x72xf32>
    %q0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 15 : i64} : tensor<?x72xf32> -> tensor<?x15xf32>
    %q = seq.reshape %q0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %k0 = seq.slice %p {axis = 1 : i64, offset = 15 : i64, size = 15 : i64} : tensor<?x72xf32> -> tensor<?x15xf32>
    %k = seq.reshape %k0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 30 : i64, size = 24 : i64} : tensor<?x72xf32> -> tensor<?x24xf32>
    %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %f = seq.slice %p {axis = 1 : i64, offset = 54 : i64, size = 3 : i64} : tensor<?x72xf32> -> tensor<?x3xf32>
    %d0 = seq.slice %p {axis = 1 : i64, offset = 57 : i64, size = 15 : i64} : tensor<?x72xf32> -> tensor<?x15xf32>
    %d = seq.reshape %d0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %y, %next = seq.recurrence tokens(%qt = %q : tensor<?x3x5xf32>, %kt = %k : tensor<?x3x5xf32>, %vt = %v : tensor<?x3x8xf32>,
        %ft = %f : tensor<?x3xf32>, %dt = %d : tensor<?x3x5xf32>) parameters() states(%s = %s0 : tensor<3x5x8xf32>)
        -> (tensor<?x3x8xf32>), (tensor<3x5x8xf32>) {
      %forget = seq.sigmoid %ft : tensor<3xf32>
      %fade = seq.sigmoid %dt : tensor<3x5xf32>
      %half = seq.contract %forget, %s {indexing_maps = [#head, #state, #state]} : (tensor<3xf32>, tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
      %kept = seq.contract %half, %fade {indexing_maps = [#state, #key, #state]} : (tensor<3x5x8xf32>, tensor<3x5xf32>) -> tensor<3x5x8xf32>
      %seen = seq.contract %qt, %kept {indexing_maps = [#key, #state, #value]} : (tensor<3x5xf32>, tensor<3x5x8xf32>) -> tensor<3x8xf32>
      %error = seq.sub %vt, %seen : tensor<3x8xf32>
      %change = seq.contract %forget, %error {indexing_maps = [#h, #hv2, #hv2]} : (tensor<3xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
      %written = seq.contract %kt, %change {indexing_maps = [#key, #value, #state]} : (tensor<3x5xf32>, tensor<3x8xf32>) -> tensor<3x5x8xf32>
      %sum = seq.add %kept, %written : tensor<3x5x8xf32>
      %read = seq.contract %qt, %sum {indexing_maps = [#key, #state, #value]} : (tensor<3x5xf32>, tensor<3x5x8xf32>) -> tensor<3x8xf32>
      %mixed = seq.silu %read : tensor<3x8xf32>
      seq.yield %mixed, %sum : tensor<3x8xf32>, tensor<3x5x8xf32>
    }
    %y0 = seq.reshape %y : tensor<?x3x8xf32> -> tensor<?x24xf32>
    %o = seq.linear %y0, %out : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %last = seq.select_rows %r, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<61x24xf32>) -> tensor<?x61xf32>
    return %logits, %next : tensor<?x61xf32>, tensor<3x5x8xf32>
  }
}
