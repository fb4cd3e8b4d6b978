// RUN: effc-opt %s --split-input-file --verify-diagnostics --seq-expand-form="form=quadratic partial"

// With `partial` a step that has no token map stays, which is a remark; its note stands at what keeps the step from being
// linear. Of 6 heads, 3 key and 5 value channels; 7 tokens.

// The state has one dimension too few, so the note is of the whole step.
func.func @no_matrix(%x: tensor<7x6x5xf32>, %s: tensor<6x5xf32>) -> tensor<7x6x5xf32> {
  // expected-remark @+2 {{stays as it is: 'seq.recurrence' op has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  // expected-note @+1 {{'seq.recurrence' carries states of shape 6,5, not one of H,K,V with at most a sum of keys of H,K behind it}}
  %y, %last = seq.recurrence tokens(%xt = %x : tensor<7x6x5xf32>) parameters() states(%st = %s : tensor<6x5xf32>)
      -> (tensor<7x6x5xf32>), (tensor<6x5xf32>) {
    %new = seq.add %xt, %st : tensor<6x5xf32>
    seq.yield %new, %new : tensor<6x5xf32>, tensor<6x5xf32>
  }
  return %y : tensor<7x6x5xf32>
}

// -----

// The next state is what is written less the decayed state: the note is of the decayed state's op.
func.func @subtracted(%q: tensor<7x6x3xf32>, %k: tensor<7x6x3xf32>, %v: tensor<7x6x5xf32>, %g: tensor<7x6x3xf32>,
                      %s: tensor<6x3x5xf32>) -> tensor<7x6x5xf32> {
  // expected-remark @+1 {{stays as it is: 'seq.recurrence' op has no derived form: expects the class 'linear', 'retrieval' or 'window', but got 'opaque'}}
  %y, %last = seq.recurrence tokens(%qt = %q : tensor<7x6x3xf32>, %kt = %k : tensor<7x6x3xf32>,
                                    %vt = %v : tensor<7x6x5xf32>, %gt = %g : tensor<7x6x3xf32>)
      parameters() states(%st = %s : tensor<6x3x5xf32>) -> (tensor<7x6x5xf32>), (tensor<6x3x5xf32>) {
    %d = seq.sigmoid %gt : tensor<6x3xf32>
    // expected-note @+1 {{'seq.contract' subtracts the state}}
    %kept = seq.contract %d, %st {indexing_maps = [
        affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, k, v)>, affine_map<(h, k, v) -> (h, k, v)>]}
        : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x3x5xf32>
    %w = seq.contract %kt, %vt {indexing_maps = [
        affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, v)>, affine_map<(h, k, v) -> (h, k, v)>]}
        : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %n = seq.sub %w, %kept : tensor<6x3x5xf32>
    %r = seq.contract %qt, %n {indexing_maps = [
        affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, k, v)>, affine_map<(h, k, v) -> (h, v)>]}
        : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    seq.yield %r, %n : tensor<6x5xf32>, tensor<6x3x5xf32>
  }
  return %y : tensor<7x6x5xf32>
}
