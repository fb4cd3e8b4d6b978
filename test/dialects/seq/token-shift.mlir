// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @token_shift
func.func @token_shift(%x: tensor<?x10xf32>, %last: tensor<10xf32>,
                       %heads: tensor<7x3x5xf32>, %row: tensor<3x5xf32>) {
  // CHECK: seq.token_shift %{{.*}} state(%{{.*}}) : tensor<?x10xf32>, tensor<10xf32>
  %y, %next = seq.token_shift %x state(%last) : tensor<?x10xf32>, tensor<10xf32>
  // CHECK: seq.token_shift %{{.*}} state(%{{.*}}) : tensor<7x3x5xf32>, tensor<3x5xf32>
  %z, %next2 = seq.token_shift %heads state(%row) : tensor<7x3x5xf32>, tensor<3x5xf32>
  return
}
