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
