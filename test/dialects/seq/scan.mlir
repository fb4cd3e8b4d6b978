// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @scan
func.func @scan(%x: tensor<12x6xf32>, %s0: tensor<6xf32>)
    -> (tensor<12x6xf32>, tensor<6xf32>) {
  // CHECK: %[[Y:.*]], %[[LAST:.*]] = seq.scan chunk 4 tokens(%[[A:.*]] = %{{.*}} : tensor<12x6xf32>) states(%[[S:.*]] = %{{.*}} : tensor<6xf32>) -> (tensor<12x6xf32>), (tensor<6xf32>) {
  // CHECK-NEXT: seq.broadcast %[[S]] along %[[A]] {{.*}} : tensor<6xf32>, tensor<4x6xf32>
  // CHECK: seq.yield %{{.*}}, %{{.*}} : tensor<4x6xf32>, tensor<6xf32>
  // CHECK: return %[[Y]], %[[LAST]]
  %y, %last = seq.scan chunk 4 tokens(%a = %x : tensor<12x6xf32>)
      states(%s = %s0 : tensor<6xf32>)
      -> (tensor<12x6xf32>), (tensor<6xf32>) {
    %rows = seq.broadcast %s along %a {dimensions = array<i64: 1>}
        : tensor<6xf32>, tensor<4x6xf32>
    %sum = seq.add %a, %rows : tensor<4x6xf32>
    %next = seq.neg %s : tensor<6xf32>
    seq.yield %sum, %next : tensor<4x6xf32>, tensor<6xf32>
  }
  return %y, %last : tensor<12x6xf32>, tensor<6xf32>
}

// A dynamic T, no state, and a parameter from outside.
// CHECK-LABEL: func.func @scan_of_any_length
func.func @scan_of_any_length(%x: tensor<?x6xf32>, %p: tensor<1x6xf32>)
    -> tensor<?x6xf32> {
  // CHECK: seq.scan chunk 1 tokens(%{{.*}} = %{{.*}} : tensor<?x6xf32>) states() -> (tensor<?x6xf32>), () {
  %y = seq.scan chunk 1 tokens(%a = %x : tensor<?x6xf32>) states()
      -> (tensor<?x6xf32>), () {
    %sum = seq.add %a, %p : tensor<1x6xf32>
    seq.yield %sum : tensor<1x6xf32>
  }
  return %y : tensor<?x6xf32>
}
