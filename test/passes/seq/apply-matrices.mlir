// RUN: effc-opt %s --seq-apply-matrices | FileCheck %s
// RUN: effc-opt %s --seq-apply-matrices --seq-apply-matrices | FileCheck %s

// CHECK-NOT: semiseparable

// A mask alone: keys and queries are ones.
// CHECK-LABEL: func.func @mask
// CHECK: seq.recurrence tokens(%[[G:.*]] = %{{.*}} : tensor<?x6xf32>, %[[X:.*]] = %{{.*}} : tensor<?x6x5xf32>)
// CHECK: %[[DECAY:.*]] = seq.exp %[[G]]
// CHECK: %[[KEPT:.*]] = seq.contract %[[DECAY]], %{{.*}}
// CHECK: %[[ONES:.*]] = seq.constant 1.000000e+00 : tensor<6x1xf32>
// CHECK: %[[WRITTEN:.*]] = seq.contract %[[ONES]], %[[X]]
// CHECK: seq.add %[[KEPT]], %[[WRITTEN]]
func.func @mask(%g: tensor<?x6xf32>, %x: tensor<?x6x5xf32>, %s: tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>) {
  %m = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  %y, %next = seq.apply %m, %x state(%s) : !seq.semiseparable<heads = 6, rank = 1, decay = head>, tensor<?x6x5xf32>, tensor<6x1x5xf32>
  return %y, %next : tensor<?x6x5xf32>, tensor<6x1x5xf32>
}

// Two decays, one of them constant, and a vector of rank 1 beside one of rank 3.
// CHECK-LABEL: func.func @product
// CHECK: seq.recurrence tokens(%[[G:.*]] = %{{.*}} : tensor<?x6xf32>, %[[C:.*]] = %{{.*}} : tensor<?x6x3xf32>, %[[B:.*]] = %{{.*}} : tensor<?x6x3xf32>, %[[W:.*]] = %{{.*}} : tensor<?x6x1xf32>, %[[X:.*]] = %{{.*}} : tensor<?x6x5xf32>) parameters(%[[K:.*]] = %{{.*}} : tensor<6xf32>)
// CHECK-DAG: seq.exp %[[G]]
// CHECK-DAG: seq.exp %[[K]]
// CHECK: %[[KEY:.*]] = seq.contract %[[B]], %[[W]]
// CHECK: %[[WRITTEN:.*]] = seq.contract %[[KEY]], %[[X]]
// CHECK: %[[NEXT:.*]] = seq.add %{{.*}}, %[[WRITTEN]]
// CHECK: %[[READ:.*]] = seq.contract %[[C]], %[[NEXT]]
// CHECK: seq.yield %[[READ]], %[[NEXT]]
func.func @product(%g: tensor<?x6xf32>, %k: tensor<6xf32>, %c: tensor<?x6x3xf32>, %b: tensor<?x6x3xf32>, %w: tensor<?x6x1xf32>,
                   %x: tensor<?x6x5xf32>, %s: tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  %mask = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  %constant = seq.decay_matrix %k : tensor<6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head_constant>
  %cb = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) columns(%b : tensor<?x6x3xf32>) -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  %repeat = seq.rank_matrix columns(%w : tensor<?x6x1xf32>) -> !seq.semiseparable<heads = 6, rank = 1, decay = none>
  %decays = seq.hadamard %mask, %constant : !seq.semiseparable<heads = 6, rank = 1, decay = head>,
      !seq.semiseparable<heads = 6, rank = 1, decay = head_constant> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  %vectors = seq.hadamard %cb, %repeat : !seq.semiseparable<heads = 6, rank = 3, decay = none>,
      !seq.semiseparable<heads = 6, rank = 1, decay = none> -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  %m = seq.hadamard %decays, %vectors : !seq.semiseparable<heads = 6, rank = 1, decay = head>,
      !seq.semiseparable<heads = 6, rank = 3, decay = none> -> !seq.semiseparable<heads = 6, rank = 3, decay = head>
  %y, %next = seq.apply %m, %x state(%s) : !seq.semiseparable<heads = 6, rank = 3, decay = head>, tensor<?x6x5xf32>, tensor<6x3x5xf32>
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}

// A band is two recurrences over a ring of four tokens: one keeps the vectors of the
// columns, each in a column of its own, the other the tokens, which decay. A token's own
// row of the ring forgets what it held.
// CHECK-LABEL: func.func @band
// CHECK-SAME: %[[POSITIONS:[a-z0-9]*]]: tensor<?xi32>
// CHECK: %[[ROW:.*]] = seq.ring_row %[[POSITIONS]] : tensor<?xi32> -> tensor<?x4xf32>
// CHECK: %[[SCORES:.*]], %[[KEYS:.*]] = seq.recurrence tokens(%[[C:.*]] = %{{.*}} : tensor<?x6x3xf32>, %[[B:.*]] = %{{.*}} : tensor<?x6x3xf32>, %[[R:.*]] = %[[ROW]] : tensor<?x4xf32>)
// CHECK: %[[DUE:.*]] = seq.scale %[[R]] by -1.000000e+30
// CHECK: %[[LEFT:.*]] = seq.exp %[[DUE]]
// CHECK: %[[KEPT:.*]] = seq.contract %[[LEFT]], %{{.*}}
// CHECK: %[[ROWS:.*]] = seq.contract %{{.*}}, %[[R]]
// CHECK: %[[WRITTEN:.*]] = seq.contract %[[B]], %[[ROWS]]
// CHECK: %[[NEXT:.*]] = seq.add %[[KEPT]], %[[WRITTEN]]
// CHECK: seq.contract %[[C]], %[[NEXT]]
// CHECK: %[[Y:.*]], %[[VALUES:.*]] = seq.recurrence tokens(%[[G:.*]] = %{{.*}} : tensor<?x6xf32>, %[[R:.*]] = %[[ROW]] : tensor<?x4xf32>, %[[Z:.*]] = %[[SCORES]] : tensor<?x6x4xf32>, %[[X:.*]] = %{{.*}} : tensor<?x6x5xf32>)
// CHECK: seq.exp %[[G]]
// CHECK: %[[WRITTEN:.*]] = seq.contract %{{.*}}, %[[X]]
// CHECK: %[[NEXT:.*]] = seq.add %{{.*}}, %[[WRITTEN]]
// CHECK: seq.contract %[[Z]], %[[NEXT]]
// CHECK: return %[[Y]], %[[KEYS]], %[[VALUES]]
func.func @band(%p: tensor<?xi32>, %g: tensor<?x6xf32>, %c: tensor<?x6x3xf32>, %b: tensor<?x6x3xf32>, %x: tensor<?x6x5xf32>,
                %keys: tensor<6x3x4xf32>, %values: tensor<6x4x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x4xf32>, tensor<6x4x5xf32>) {
  %band = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
  %cb = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) columns(%b : tensor<?x6x3xf32>) -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  %mask = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  %near = seq.hadamard %band, %mask : !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>,
      !seq.semiseparable<heads = 6, rank = 1, decay = head> -> !seq.semiseparable<heads = 6, rank = 1, decay = head, band = 4>
  %m = seq.hadamard %cb, %near : !seq.semiseparable<heads = 6, rank = 3, decay = none>,
      !seq.semiseparable<heads = 6, rank = 1, decay = head, band = 4> -> !seq.semiseparable<heads = 6, rank = 3, decay = head, band = 4>
  %y, %k, %v = seq.apply_band %m, %x positions(%p) states(%keys, %values)
      : !seq.semiseparable<heads = 6, rank = 3, decay = head, band = 4>, tensor<?x6x5xf32>, tensor<?xi32>,
        tensor<6x3x4xf32>, tensor<6x4x5xf32>
  return %y, %k, %v : tensor<?x6x5xf32>, tensor<6x3x4xf32>, tensor<6x4x5xf32>
}
