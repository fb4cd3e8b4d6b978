// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>
// CHECK-DAG: #[[S:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @scores_of_tokens
func.func @scores_of_tokens(%q: tensor<7x2x3xf32>, %k: tensor<7x2x3xf32>)
    -> tensor<2x7x7xf32> {
  // CHECK: seq.contract %{{.*}}, %{{.*}} {indexing_maps = [#[[Q]], #[[K]], #[[S]]]} : (tensor<7x2x3xf32>, tensor<7x2x3xf32>) -> tensor<2x7x7xf32>
  %scores = seq.contract %q, %k {indexing_maps = [
      affine_map<(g, t, s, k) -> (t, g, k)>,
      affine_map<(g, t, s, k) -> (s, g, k)>,
      affine_map<(g, t, s, k) -> (g, t, s)>]}
      : (tensor<7x2x3xf32>, tensor<7x2x3xf32>) -> tensor<2x7x7xf32>
  return %scores : tensor<2x7x7xf32>
}

// A scalar per head times a vector per token and head, T dynamic.
// CHECK-LABEL: func.func @scale_by_head
func.func @scale_by_head(%d: tensor<6xf32>, %x: tensor<?x6x5xf32>)
    -> tensor<?x6x5xf32> {
  // CHECK: seq.contract {{.*}} : (tensor<6xf32>, tensor<?x6x5xf32>) -> tensor<?x6x5xf32>
  %y = seq.contract %d, %x {indexing_maps = [
      affine_map<(t, h, v) -> (h)>,
      affine_map<(t, h, v) -> (t, h, v)>,
      affine_map<(t, h, v) -> (t, h, v)>]}
      : (tensor<6xf32>, tensor<?x6x5xf32>) -> tensor<?x6x5xf32>
  return %y : tensor<?x6x5xf32>
}
