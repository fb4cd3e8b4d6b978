// A recurrent cell of each head: its last output comes back through a matrix, and a gate decides how much of it stays. Nothing
// of it is linear.
#w = affine_map<(h, i, j) -> (h, i, j)>
#from = affine_map<(h, i, j) -> (h, j)>
#to = affine_map<(h, i, j) -> (h, i)>
module attributes {seq.model = #seq.model<family = "cell", vocabulary = 47, width = 24, max_context = 0>} {
  seq.weight @embeddings source("embeddings") : tensor<47x24xf32>
  seq.weight @norm source("norm") : tensor<24xf32>
  seq.weight @in source("in") : tensor<48x24xf32>
  seq.weight @back source("back") : tensor<3x8x8xf32>
  seq.weight @out source("out") : tensor<24x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
      %s: tensor<3x8xf32> {seq.state_name = "cell"}) -> (tensor<?x47xf32>, tensor<3x8xf32>) {
    %embeddings = seq.parameter @embeddings : tensor<47x24xf32>
    %norm = seq.parameter @norm : tensor<24xf32>
    %in = seq.parameter @in : tensor<48x24xf32>
    %back = seq.parameter @back : tensor<3x8x8xf32>
    %out = seq.parameter @out : tensor<24x24xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<47x24xf32>) -> tensor<?x24xf32>
    %n = seq.rms_norm %x, %norm {eps = 1.000000e-05 : f64} : tensor<?x24xf32>, tensor<24xf32>
    %p = seq.linear %n, %in : (tensor<?x24xf32>, tensor<48x24xf32>) -> tensor<?x48xf32>
    %v0 = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 24 : i64} : tensor<?x48xf32> -> tensor<?x24xf32>
    %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %g0 = seq.slice %p {axis = 1 : i64, offset = 24 : i64, size = 24 : i64} : tensor<?x48xf32> -> tensor<?x24xf32>
    %g = seq.reshape %g0 : tensor<?x24xf32> -> tensor<?x3x8xf32>
    %y, %next = seq.recurrence tokens(%vt = %v : tensor<?x3x8xf32>, %gt = %g : tensor<?x3x8xf32>)
        parameters(%w = %back : tensor<3x8x8xf32>) states(%st = %s : tensor<3x8xf32>)
        -> (tensor<?x3x8xf32>), (tensor<3x8xf32>) {
      %came = seq.contract %w, %st {indexing_maps = [#w, #from, #to]} : (tensor<3x8x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
      %drive = seq.add %vt, %came : tensor<3x8xf32>
      %new = seq.tanh %drive : tensor<3x8xf32>
      %gate = seq.sigmoid %gt : tensor<3x8xf32>
      %change = seq.sub %new, %st : tensor<3x8xf32>
      %step = seq.mul %gate, %change : tensor<3x8xf32>
      %last = seq.add %st, %step : tensor<3x8xf32>
      seq.yield %last, %last : tensor<3x8xf32>, tensor<3x8xf32>
    }
    %y0 = seq.reshape %y : tensor<?x3x8xf32> -> tensor<?x24xf32>
    %o = seq.linear %y0, %out : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
    %r = seq.add %x, %o : tensor<?x24xf32>
    %last = seq.select_rows %r, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x24xf32>, tensor<47x24xf32>) -> tensor<?x47xf32>
    return %logits, %next : tensor<?x47xf32>, tensor<3x8xf32>
  }
}
