// RUN: effc-opt %s --seq-expand-form='form=chunkwise chunk=3' | FileCheck %s

// 7 tokens of two corrections are 14 rows: two chunks of 3 tokens, and 2 rows behind them.
// Of the rows that are read, H, V = 4, 5, the second one of each token counts.

#h = affine_map<(h, k, v) -> (h)>
#rate = affine_map<(h, v) -> (h)>
#all = affine_map<(h, v) -> (h, v)>
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
// CHECK-LABEL: func.func @two_corrections
// CHECK: %[[KEYS:.*]] = seq.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<7x1x4x3xf32>, tensor<7x1x4x3xf32>) -> tensor<7x2x4x3xf32>
// CHECK: seq.reshape %[[KEYS]] : tensor<7x2x4x3xf32> -> tensor<14x4x3xf32>
// CHECK: seq.scan chunk 6
// CHECK: seq.solve_unit_lower
// CHECK: %[[ROWS:.*]] = seq.reshape %{{.*}} : tensor<14x4x1x5xf32> -> tensor<7x2x4x1x5xf32>
// CHECK: seq.slice %[[ROWS]] {axis = 1 : i64, offset = 1 : i64, size = 1 : i64}
func.func @two_corrections(%q0: tensor<7x4x3xf32>, %k0: tensor<7x4x3xf32>, %p0: tensor<7x4x3xf32>, %v0: tensor<7x4x5xf32>,
                           %b0: tensor<7x4xf32>, %g0: tensor<7x4xf32>, %s0: tensor<4x3x5xf32>) -> (tensor<7x4x5xf32>, tensor<4x3x5xf32>) {
  %y, %last = seq.recurrence
      tokens(%q = %q0 : tensor<7x4x3xf32>, %k = %k0 : tensor<7x4x3xf32>, %p = %p0 : tensor<7x4x3xf32>,
             %v = %v0 : tensor<7x4x5xf32>, %b = %b0 : tensor<7x4xf32>, %g = %g0 : tensor<7x4xf32>)
      parameters() states(%s = %s0 : tensor<4x3x5xf32>) -> (tensor<7x4x5xf32>), (tensor<4x3x5xf32>) {
    %f = seq.sigmoid %g : tensor<4xf32>
    %kept = seq.contract %f, %s {indexing_maps = [#h, #state, #state]} : (tensor<4xf32>, tensor<4x3x5xf32>) -> tensor<4x3x5xf32>
    %seen = seq.contract %k, %kept {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x5xf32>) -> tensor<4x5xf32>
    %error = seq.sub %v, %seen : tensor<4x5xf32>
    %change = seq.contract %b, %error {indexing_maps = [#rate, #all, #all]} : (tensor<4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    %written = seq.contract %k, %change {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x3x5xf32>
    %half = seq.add %kept, %written : tensor<4x3x5xf32>
    %again = seq.contract %p, %half {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x5xf32>) -> tensor<4x5xf32>
    %rest = seq.sub %again, %v : tensor<4x5xf32>
    %more = seq.contract %p, %rest {indexing_maps = [#key, #value, #state]} : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x3x5xf32>
    %next = seq.sub %half, %more : tensor<4x3x5xf32>
    %read = seq.contract %q, %next {indexing_maps = [#key, #state, #value]} : (tensor<4x3xf32>, tensor<4x3x5xf32>) -> tensor<4x5xf32>
    seq.yield %read, %next : tensor<4x5xf32>, tensor<4x3x5xf32>
  }
  return %y, %last : tensor<7x4x5xf32>, tensor<4x3x5xf32>
}
