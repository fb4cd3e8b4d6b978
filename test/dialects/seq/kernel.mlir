// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @kernel
func.func @kernel(%x: tensor<?x6xf32>, %y: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: %[[R:.*]] = seq.kernel "layers.0.residual" (%[[A:.*]] = %{{.*}} : tensor<?x6xf32>, %[[B:.*]] = %{{.*}} : tensor<?x6xf32>) -> (tensor<?x6xf32>) {
  // CHECK-NEXT: %[[S:.*]] = seq.add %[[A]], %[[B]]
  // CHECK-NEXT: seq.yield %[[S]] : tensor<?x6xf32>
  %r = seq.kernel "layers.0.residual" (%a = %x : tensor<?x6xf32>,
                                       %b = %y : tensor<?x6xf32>)
      -> (tensor<?x6xf32>) {
    %s = seq.add %a, %b : tensor<?x6xf32>
    seq.yield %s : tensor<?x6xf32>
  }
  return %r : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @kernel_of_two_results
func.func @kernel_of_two_results(%x: tensor<?x6xf32>, %s: tensor<6xf32>)
    -> (tensor<?x6xf32>, tensor<6xf32>) {
  // CHECK: %[[R:.*]]:2 = seq.kernel "norm"
  // CHECK: return %[[R]]#0, %[[R]]#1
  %r:2 = seq.kernel "norm" (%a = %x : tensor<?x6xf32>, %b = %s : tensor<6xf32>)
      -> (tensor<?x6xf32>, tensor<6xf32>) {
    %n = seq.neg %b : tensor<6xf32>
    seq.yield %a, %n : tensor<?x6xf32>, tensor<6xf32>
  }
  return %r#0, %r#1 : tensor<?x6xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @kernel_attributes
func.func @kernel_attributes(%x: tensor<?x6xf32>) {
  // CHECK: seq.kernel "copy" (%{{.*}} = %{{.*}} : tensor<?x6xf32>) -> (tensor<?x6xf32>) attributes {test.tag} {
  %r = seq.kernel "copy" (%a = %x : tensor<?x6xf32>) -> (tensor<?x6xf32>)
      attributes {test.tag} {
    seq.yield %a : tensor<?x6xf32>
  }
  return
}

// CHECK-LABEL: func.func @narrow_result
func.func @narrow_result(%x: tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  // CHECK: seq.kernel "copies" (%{{.*}} = %{{.*}} : tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) attributes {narrow = array<i64: 1>, narrow_to = bf16} {
  %r:2 = seq.kernel "copies" (%a = %x : tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>)
      attributes {narrow = array<i64: 1>, narrow_to = bf16} {
    seq.yield %a, %a : tensor<?x6xf32>, tensor<?x6xf32>
  }
  return %r#0, %r#1 : tensor<?x6xf32>, tensor<?x6xf32>
}

// CHECK-LABEL: func.func @kernel_of_a_root
func.func @kernel_of_a_root(%x: tensor<?x6xf32>, %w: tensor<5x6xf32>) -> tensor<?x5xf32> {
  // CHECK: seq.kernel "product" (%{{.*}} = %{{.*}} : tensor<?x6xf32>, %{{.*}} = %{{.*}} : tensor<5x6xf32>) -> (tensor<?x5xf32>) attributes {root = 1 : i64} {
  %r = seq.kernel "product" (%a = %x : tensor<?x6xf32>, %b = %w : tensor<5x6xf32>) -> (tensor<?x5xf32>)
      attributes {root = 1 : i64} {
    %s = seq.silu %a : tensor<?x6xf32>
    %y = seq.linear %s, %b : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
    seq.yield %y : tensor<?x5xf32>
  }
  return %r : tensor<?x5xf32>
}
