// A mixer of no paper: keys are mixed with the key before, what is read is divided by a sum of keys. Layers see the token before, too.
#h = affine_map<(h, v) -> (h)>
#hv2 = affine_map<(h, v) -> (h, v)>
#head = affine_map<(h, k, v) -> (h)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
#of = affine_map<(h, k) -> (h)>
#all = affine_map<(h, k) -> (h, k)>
module attributes {seq.model = #seq.model<family = "shifted", vocabulary = 61, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<61x24xf32>
  seq.weight @in source("in") : tensor<57x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %e0: tensor<24xf32> {seq.state_name = "token"},
      %l0: tensor<3x5xf32> {seq.state_name = "key"}, %m0: tensor<3x5x8xf32> {seq.state_name = "matrix"}, %z0: tensor<3x5xf32> {seq.state_name = "sum"})
      -> (tensor<?x61xf32>, tensor<24xf32>, tensor<3x5xf32>, tensor<3x5x8xf32>, tensor<3x5xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<61x24xf32>
    %in = seq.parameter @in : tensor<57x24xf32>
    %x0 = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %before, %e = seq.token_shift %x0 state(%e0) : tensor<?x24xf32>, tensor<24xf32>
    %x = seq.add %x0, %before : tensor<?x24xf32>
    %p = seq.linear %x, %in : (tensor<?x24xf32>, tensor<57x24xf32>) -> tensor<?x57xf32>
    %q0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 15 : i64} : tensor<?x57xf32> -> tensor<?x15xf32>
    %q = seq.reshape %q0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %k0 = seq.slice %p {axis = 1 : i64, offset = 15 : i64, size = 15 : i64} : tensor<?x57xf32> -> tensor<?x15xf32>
    %k = seq.reshape %k0 : tensor<?x15xf32> -> tensor<?x3x5xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 30 : i64, size = 24 : i64} : tensor<?x57xf32> -> tensor<?x24xf32>
    %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %f = seq.slice %p {axis = 1 : i64, offset = 54 : i64, size = 3 : i64} : tensor<?x57xf32> -> tensor<?x3xf32>
    %y, %l, %m, %z = seq.recurrence tokens(%q = %q : tensor<?x3x5xf32>, %k = %k : tensor<?x3x5xf32>, %v = %v : tensor<?x3x8xf32>, %f = %f : tensor<?x3xf32>)
        parameters() states(%l = %l0 : tensor<3x5xf32>, %m = %m0 : tensor<3x5x8xf32>, %z = %z0 : tensor<3x5xf32>)
        -> (tensor<?x3x8xf32>), (tensor<3x5xf32>, tensor<3x5x8xf32>, tensor<3x5xf32>) {
      %keep = seq.sigmoid %f : tensor<3xf32>
      %both = seq.add %k, %l : tensor<3x5xf32>
      %key = seq.exp %both : tensor<3x5xf32>
      %query = seq.exp %q : tensor<3x5xf32>
      %kept = seq.contract %keep, %m {indexing_maps = [#head, #state, #state]} : (tensor<3xf32>, tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
      %written = seq.contract %key, %v {indexing_maps = [#key, #value, #state]} : (tensor<3x5xf32>, tensor<3x8xf32>) -> tensor<3x5x8xf32>
      %next = seq.add %kept, %written : tensor<3x5x8xf32>
      %faded = seq.contract %keep, %z {indexing_maps = [#of, #all, #all]} : (tensor<3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
      %sum = seq.add %faded, %key : tensor<3x5xf32>
      %read = seq.contract %query, %next {indexing_maps = [#key, #state, #value]} : (tensor<3x5xf32>, tensor<3x5x8xf32>) -> tensor<3x8xf32>
      %total = seq.contract %query, %sum {indexing_maps = [#all, #all, #of]} : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3xf32>
      %one = seq.constant 1.000000e+00 : tensor<3xf32>
      %inverse = seq.div %one, %total : tensor<3xf32>
      %mean = seq.contract %read, %inverse {indexing_maps = [#hv2, #h, #hv2]} : (tensor<3x8xf32>, tensor<3xf32>) -> tensor<3x8xf32>
      seq.yield %mean, %k, %next, %sum : tensor<3x8xf32>, tensor<3x5xf32>, tensor<3x5x8xf32>, tensor<3x5xf32>
    }
    %o = seq.reshape %y : tensor<?x3x8xf32> -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %last = seq.select_rows %r, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<61x24xf32>) -> tensor<?x61xf32>
    return %logits, %e, %l, %m, %z : tensor<?x61xf32>, tensor<24xf32>, tensor<3x5xf32>, tensor<3x5x8xf32>, tensor<3x5xf32>
  }
}
