// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @recurrence
func.func @recurrence(%query: tensor<?x6x3xf32>, %key: tensor<?x6x3xf32>,
    %value: tensor<?x6x5xf32>, %gate: tensor<?x6xf32>, %s0: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.recurrence tokens(%[[Q:[^ ]*]] = %{{[^ ]*}} : tensor<?x6x3xf32>, {{.*}}) parameters() states(%[[S:[^ ]*]] = %{{[^ ]*}} : tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>) {
  // CHECK: seq.contract %{{.*}}, %[[S]]
  // CHECK: %[[NEXT:.*]] = seq.add
  // CHECK: seq.contract %[[Q]], %[[NEXT]]
  // CHECK: seq.yield %{{.*}}, %{{.*}} : tensor<6x5xf32>, tensor<6x3x5xf32>
  %y, %last = seq.recurrence
      tokens(%q = %query : tensor<?x6x3xf32>, %k = %key : tensor<?x6x3xf32>,
             %v = %value : tensor<?x6x5xf32>, %g = %gate : tensor<?x6xf32>)
      parameters() states(%s = %s0 : tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>) {
    %decay = seq.sigmoid %g : tensor<6xf32>
    %kept = seq.contract %decay, %s {indexing_maps = [
        affine_map<(h, k, v) -> (h)>, affine_map<(h, k, v) -> (h, k, v)>,
        affine_map<(h, k, v) -> (h, k, v)>]}
        : (tensor<6xf32>, tensor<6x3x5xf32>) -> tensor<6x3x5xf32>
    %written = seq.contract %k, %v {indexing_maps = [
        affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, v)>,
        affine_map<(h, k, v) -> (h, k, v)>]}
        : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %next = seq.add %kept, %written : tensor<6x3x5xf32>
    %read = seq.contract %q, %next {indexing_maps = [
        affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, k, v)>,
        affine_map<(h, k, v) -> (h, v)>]}
        : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    seq.yield %read, %next : tensor<6x5xf32>, tensor<6x3x5xf32>
  }
  return %y, %last : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
