// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @segment
// CHECK-SAME: (%[[T:.*]]: !tile.segments, %[[S:.*]]: index)
func.func @segment(%table: !tile.segments, %s: index) -> (index, index, index, index, i1) {
  // CHECK: %[[SLOT:.*]], %[[ROW:.*]], %[[LENGTH:.*]], %[[START:.*]], %[[BEGINS:.*]] = tile.segment %[[T]][%[[S]]]
  %slot, %row, %length, %start, %begins = tile.segment %table[%s]
  // CHECK: return %[[SLOT]], %[[ROW]], %[[LENGTH]], %[[START]], %[[BEGINS]]
  return %slot, %row, %length, %start, %begins : index, index, index, index, i1
}
