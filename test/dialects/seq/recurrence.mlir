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

// The body sees nothing of the function, so that it may use its names again.
// CHECK-LABEL: func.func @recurrence_names
// CHECK: seq.recurrence tokens(%[[X:[^ ]*]] = %{{[^ ]*}} : tensor<?x6xf32>) parameters() states(%[[S:[^ ]*]] = %{{[^ ]*}} : tensor<6xf32>)
// CHECK: %[[Y:.*]] = seq.add %[[X]], %[[S]]
// CHECK: seq.yield %[[Y]], %[[Y]]
func.func @recurrence_names(%x: tensor<?x6xf32>, %s: tensor<6xf32>) -> tensor<6xf32> {
  %y = seq.exp %s : tensor<6xf32>
  %z, %last = seq.recurrence tokens(%x = %x : tensor<?x6xf32>) parameters()
      states(%s = %s : tensor<6xf32>) -> (tensor<?x6xf32>), (tensor<6xf32>) {
    %y = seq.add %x, %s : tensor<6xf32>
    seq.yield %y, %y : tensor<6xf32>, tensor<6xf32>
  }
  return %last : tensor<6xf32>
}

// Without a state tokens do not meet.
// CHECK-LABEL: func.func @recurrence_without_state
// CHECK: seq.recurrence tokens(%[[X:[^ ]*]] = %{{[^ ]*}} : tensor<?x6xf32>) parameters(%[[A:[^ ]*]] = %{{[^ ]*}} : tensor<6xf32>) states() -> (tensor<?x6xf32>), () {
// CHECK: %[[RATE:.*]] = seq.exp %[[A]]
// CHECK: seq.mul %[[RATE]], %[[X]]
func.func @recurrence_without_state(%x: tensor<?x6xf32>, %a: tensor<6xf32>) -> tensor<?x6xf32> {
  %y = seq.recurrence tokens(%x = %x : tensor<?x6xf32>) parameters(%a = %a : tensor<6xf32>) states()
      -> (tensor<?x6xf32>), () {
    %rate = seq.exp %a : tensor<6xf32>
    %step = seq.mul %rate, %x : tensor<6xf32>
    seq.yield %step : tensor<6xf32>
  }
  return %y : tensor<?x6xf32>
}
