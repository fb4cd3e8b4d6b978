// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 12 channels in 3 groups of 4.

// CHECK-LABEL: func.func @group_norm
func.func @group_norm(%x: tensor<?x12xf32>, %w: tensor<12xf32>, %b: tensor<12xf32>) -> tensor<?x12xf32> {
  // CHECK: seq.group_norm %{{.*}} weight(%{{.*}} : tensor<12xf32>) bias(%{{.*}} : tensor<12xf32>) {centred, eps = 1.000000e-05 : f64, groups = 3 : i64} : tensor<?x12xf32>
  %y = seq.group_norm %x weight(%w : tensor<12xf32>) bias(%b : tensor<12xf32>)
      {centred, eps = 1.0e-5 : f64, groups = 3 : i64} : tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// CHECK-LABEL: func.func @group_norm_shared_weight
func.func @group_norm_shared_weight(%x: tensor<7x12xf32>, %w: tensor<4xf32>) -> tensor<7x12xf32> {
  // CHECK: seq.group_norm %{{.*}} weight(%{{.*}} : tensor<4xf32>) {eps = 2.500000e-01 : f64, groups = 3 : i64, unit_offset} : tensor<7x12xf32>
  %y = seq.group_norm %x weight(%w : tensor<4xf32>) {eps = 0.25 : f64, groups = 3 : i64, unit_offset} : tensor<7x12xf32>
  return %y : tensor<7x12xf32>
}

// CHECK-LABEL: func.func @group_norm_unit_vectors
func.func @group_norm_unit_vectors(%x: tensor<?x12xf32>) -> tensor<?x12xf32> {
  // CHECK: seq.group_norm %{{.*}} {eps = 5.000000e-01 : f64, measure = #seq.norm_measure<max_length>} : tensor<?x12xf32>
  %y = seq.group_norm %x {eps = 0.5 : f64, measure = #seq.norm_measure<max_length>} : tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}
