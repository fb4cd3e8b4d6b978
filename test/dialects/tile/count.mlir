// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @count
func.func @count() -> index {
  // CHECK: %[[R:.*]] = tile.count rows
  %rows = tile.count rows
  // CHECK: tile.count segments
  %segments = tile.count segments
  // CHECK: tile.count outputs
  %outputs = tile.count outputs
  // CHECK: return %[[R]] : index
  return %rows : index
}
