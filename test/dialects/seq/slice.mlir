// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @slice
func.func @slice(%x: tensor<?x22xf32>, %w: tensor<9x22xbf16>) {
  // CHECK: seq.slice %{{.*}} {axis = 1 : i64, offset = 10 : i64, size = 6 : i64} : tensor<?x22xf32> -> tensor<?x6xf32>
  %z = seq.slice %x {axis = 1 : i64, offset = 10 : i64, size = 6 : i64}
      : tensor<?x22xf32> -> tensor<?x6xf32>
  // The first three tokens of however many there are.
  // CHECK: seq.slice %{{.*}} {axis = 0 : i64, offset = 0 : i64, size = 3 : i64} : tensor<?x22xf32> -> tensor<3x22xf32>
  %first = seq.slice %x {axis = 0 : i64, offset = 0 : i64, size = 3 : i64}
      : tensor<?x22xf32> -> tensor<3x22xf32>
  // Weights of some outputs.
  // CHECK: seq.slice %{{.*}} {axis = 0 : i64, offset = 7 : i64, size = 2 : i64} : tensor<9x22xbf16> -> tensor<2x22xbf16>
  %rows = seq.slice %w {axis = 0 : i64, offset = 7 : i64, size = 2 : i64}
      : tensor<9x22xbf16> -> tensor<2x22xbf16>
  return
}
