// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The state-space dual: rank 3 under a mask of decays.
// CHECK-LABEL: func.func @dual
func.func @dual(%c: tensor<?x6x3xf32>, %b: tensor<?x6x3xf32>, %g: tensor<?x6xf32>, %x: tensor<?x6x5xf32>, %s: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.rank_matrix rows(%{{.*}} : tensor<?x6x3xf32>) columns(%{{.*}} : tensor<?x6x3xf32>) -> <heads = 6, rank = 3, decay = none>
  %cb = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) columns(%b : tensor<?x6x3xf32>)
      -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  // CHECK: seq.decay_matrix %{{.*}} : tensor<?x6xf32> -> <heads = 6, rank = 1, decay = head>
  %mask = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  // CHECK: seq.hadamard %{{.*}}, %{{.*}} : <heads = 6, rank = 3, decay = none>, <heads = 6, rank = 1, decay = head> -> <heads = 6, rank = 3, decay = head>
  %m = seq.hadamard %cb, %mask : !seq.semiseparable<heads = 6, rank = 3, decay = none>,
      !seq.semiseparable<heads = 6, rank = 1, decay = head>
      -> !seq.semiseparable<heads = 6, rank = 3, decay = head>
  // CHECK: seq.apply %{{.*}}, %{{.*}} state(%{{.*}}) : <heads = 6, rank = 3, decay = head>, tensor<?x6x5xf32>, tensor<6x3x5xf32>
  %y, %next = seq.apply %m, %x state(%s)
      : !seq.semiseparable<heads = 6, rank = 3, decay = head>, tensor<?x6x5xf32>, tensor<6x3x5xf32>
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}

// A Toeplitz matrix whose rows repeat weights of the sources.
// CHECK-LABEL: func.func @row_repeat
func.func @row_repeat(%w: tensor<?x6x1xf32>, %g: tensor<6xf32>, %x: tensor<?x6x5xf32>, %s: tensor<6x1x5xf32>) -> tensor<?x6x5xf32> {
  // CHECK: seq.rank_matrix columns(%{{.*}} : tensor<?x6x1xf32>) -> <heads = 6, rank = 1, decay = none>
  %rows = seq.rank_matrix columns(%w : tensor<?x6x1xf32>) -> !seq.semiseparable<heads = 6, rank = 1, decay = none>
  // CHECK: seq.decay_matrix %{{.*}} : tensor<6xf32> -> <heads = 6, rank = 1, decay = head_constant>
  %toeplitz = seq.decay_matrix %g : tensor<6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head_constant>
  %m = seq.hadamard %rows, %toeplitz : !seq.semiseparable<heads = 6, rank = 1, decay = none>,
      !seq.semiseparable<heads = 6, rank = 1, decay = head_constant>
      -> !seq.semiseparable<heads = 6, rank = 1, decay = head_constant>
  %y, %next = seq.apply %m, %x state(%s)
      : !seq.semiseparable<heads = 6, rank = 1, decay = head_constant>, tensor<?x6x5xf32>, tensor<6x1x5xf32>
  return %y : tensor<?x6x5xf32>
}

// Attention over the last four tokens without a softmax; of two bands the narrower is left.
// CHECK-LABEL: func.func @band
func.func @band(%c: tensor<?x6x3xf32>, %g: tensor<?x6xf32>, %x: tensor<?x6x5xf32>, %p: tensor<?xi32>,
                %keys: tensor<6x3x4xf32>, %values: tensor<6x4x5xf32>) -> tensor<?x6x5xf32> {
  // CHECK: seq.band_matrix -> <heads = 6, rank = 1, decay = none, band = 4>
  %band = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
  %wider = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 9>
  %cb = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) columns(%c : tensor<?x6x3xf32>)
      -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  %mask = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  %m0 = seq.hadamard %cb, %band : !seq.semiseparable<heads = 6, rank = 3, decay = none>,
      !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
      -> !seq.semiseparable<heads = 6, rank = 3, decay = none, band = 4>
  // CHECK: seq.hadamard %{{.*}}, %{{.*}} : <heads = 6, rank = 1, decay = none, band = 9>, <heads = 6, rank = 1, decay = head> -> <heads = 6, rank = 1, decay = head, band = 9>
  %m1 = seq.hadamard %wider, %mask : !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 9>,
      !seq.semiseparable<heads = 6, rank = 1, decay = head>
      -> !seq.semiseparable<heads = 6, rank = 1, decay = head, band = 9>
  %m = seq.hadamard %m0, %m1 : !seq.semiseparable<heads = 6, rank = 3, decay = none, band = 4>,
      !seq.semiseparable<heads = 6, rank = 1, decay = head, band = 9>
      -> !seq.semiseparable<heads = 6, rank = 3, decay = head, band = 4>
  // CHECK: seq.apply_band %{{.*}}, %{{.*}} positions(%{{.*}}) states(%{{.*}}, %{{.*}}) : <heads = 6, rank = 3, decay = head, band = 4>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6x3x4xf32>, tensor<6x4x5xf32>
  %y, %k, %v = seq.apply_band %m, %x positions(%p) states(%keys, %values)
      : !seq.semiseparable<heads = 6, rank = 3, decay = head, band = 4>, tensor<?x6x5xf32>, tensor<?xi32>,
        tensor<6x3x4xf32>, tensor<6x4x5xf32>
  return %y : tensor<?x6x5xf32>
}
