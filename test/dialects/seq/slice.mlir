// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<?x22xf32>) {
  // CHECK: seq.slice %{{.*}} {axis = 1 : i64, offset = 10 : i64, size = 6 : i64} : tensor<?x22xf32> -> tensor<?x6xf32>
  %z = seq.slice %x {axis = 1 : i64, offset = 10 : i64, size = 6 : i64}
      : tensor<?x22xf32> -> tensor<?x6xf32>
  // The first three tokens of however many there are.
  // CHECK: seq.slice %{{.*}} {axis = 0 : i64, offset = 0 : i64, size = 3 : i64} : tensor<?x22xf32> -> tensor<3x22xf32>
  %first = seq.slice %x {axis = 0 : i64, offset = 0 : i64, size = 3 : i64}
      : tensor<?x22xf32> -> tensor<3x22xf32>
  return
}
