// RUN: effc-opt %s --seq-expand-form=form=quadratic | FileCheck %s --check-prefix=PAIRS
// RUN: effc-opt %s --seq-expand-form=form=step | FileCheck %s --check-prefix=CANDIDATES
// RUN: effc-opt %s --seq-expand-form="form=chunkwise chunk=4" | FileCheck %s --check-prefix=CANDIDATES

// 11 tokens, 3 heads that choose 4 of 7 * 7 rows: by pairs all 49 sums exist, by
// candidates none.

// PAIRS-LABEL: func.func @retrieval
// PAIRS: seq.broadcast %{{.*}} along %{{.*}} {dimensions = array<i64: 0, 1, 2>} : tensor<11x3x7xf32>, tensor<11x3x7x7xf32>
// PAIRS: seq.broadcast %{{.*}} along %{{.*}} {dimensions = array<i64: 0, 1, 3>}
// PAIRS: %[[SUMS:.*]] = seq.add
// PAIRS: seq.reshape %[[SUMS]] : tensor<11x3x7x7xf32> -> tensor<11x3x49xf32>
// PAIRS-COUNT-3: seq.top_k %{{.*}} : tensor<11x49xf32> -> tensor<11x4xf32>, tensor<11x4xi32>
// PAIRS-NOT: seq.choose_rows

// CANDIDATES-LABEL: func.func @retrieval
// CANDIDATES-NOT: seq.broadcast
// CANDIDATES: seq.choose_rows %{{.*}} : tensor<11x2x3x7xf32>
// CANDIDATES-NEXT: seq.sum_rows
func.func @retrieval(%scores: tensor<11x2x3x7xf32>, %values: tensor<49x5xf32>) -> tensor<11x5xf32> {
  %y = seq.product_key_memory %scores parameters(%values) {top_k = 4 : i64}
      : tensor<11x2x3x7xf32>, (tensor<49x5xf32>) -> tensor<11x5xf32>
  return %y : tensor<11x5xf32>
}
