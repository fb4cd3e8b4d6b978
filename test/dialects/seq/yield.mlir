// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @yield
func.func @yield(%x: tensor<8x6x5xf32>, %s0: tensor<6x3x5xf32>) {
  %r, %last = seq.scan chunk 4 tokens(%y = %x : tensor<8x6x5xf32>)
      states(%next = %s0 : tensor<6x3x5xf32>)
      -> (tensor<8x6x5xf32>), (tensor<6x3x5xf32>) {
    // CHECK: seq.yield %{{.*}}, %{{.*}} : tensor<4x6x5xf32>, tensor<6x3x5xf32>
    seq.yield %y, %next : tensor<4x6x5xf32>, tensor<6x3x5xf32>
  }
  // CHECK: seq.kernel "nothing" () -> () {
  // CHECK-NEXT: seq.yield{{$}}
  seq.kernel "nothing" () -> () {
    seq.yield
  }
  return
}
