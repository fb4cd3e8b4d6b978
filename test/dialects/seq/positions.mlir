// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @ring_positions
func.func @ring_positions(%p: tensor<7xi32>) {
  // CHECK: seq.ring_positions %{{.*}} before : tensor<7xi32> -> tensor<5xi32>
  %held = seq.ring_positions %p before : tensor<7xi32> -> tensor<5xi32>
  // CHECK: seq.ring_positions %{{.*}} : tensor<7xi32> -> tensor<5xi32>
  %after = seq.ring_positions %p : tensor<7xi32> -> tensor<5xi32>
  // CHECK: seq.ring_positions %{{.*}} first before : tensor<7xi32> -> tensor<5xi32>
  %first = seq.ring_positions %p first before : tensor<7xi32> -> tensor<5xi32>
  return
}

// CHECK-LABEL: func.func @ring_write
func.func @ring_write(%x: tensor<7x2x3xf32>, %p: tensor<7xi32>, %ring: tensor<5x2x3xf32>) {
  // CHECK: seq.ring_write %{{.*}} at(%{{.*}}) into(%{{.*}}) : tensor<7x2x3xf32>, tensor<7xi32>, tensor<5x2x3xf32>
  %next = seq.ring_write %x at(%p) into(%ring)
      : tensor<7x2x3xf32>, tensor<7xi32>, tensor<5x2x3xf32>
  // CHECK: seq.ring_write %{{.*}} at(%{{.*}}) into(%{{.*}}) first : tensor<7x2x3xf32>
  %first = seq.ring_write %x at(%p) into(%ring) first : tensor<7x2x3xf32>, tensor<7xi32>, tensor<5x2x3xf32>
  return
}

// CHECK-LABEL: func.func @window_mask
func.func @window_mask(%scores: tensor<2x7x5xf32>, %pq: tensor<7xi32>, %pk: tensor<5xi32>) {
  // CHECK: seq.window_mask %{{.*}} queries(%{{.*}}) keys(%{{.*}}) {window = 4 : i64} : tensor<2x7x5xf32>, tensor<7xi32>, tensor<5xi32>
  %y = seq.window_mask %scores queries(%pq) keys(%pk) {window = 4 : i64}
      : tensor<2x7x5xf32>, tensor<7xi32>, tensor<5xi32>
  // CHECK: seq.window_mask %{{.*}} queries(%{{.*}}) keys(%{{.*}}) : tensor<2x7x5xf32>
  %all = seq.window_mask %scores queries(%pq) keys(%pk) : tensor<2x7x5xf32>, tensor<7xi32>, tensor<5xi32>
  // CHECK: seq.window_mask %{{.*}} queries(%{{.*}}) keys(%{{.*}}) passed {window = 4 : i64} : tensor<2x7x5xf32>
  %old = seq.window_mask %scores queries(%pq) keys(%pk) passed {window = 4 : i64}
      : tensor<2x7x5xf32>, tensor<7xi32>, tensor<5xi32>
  return
}

// CHECK-LABEL: func.func @distances
func.func @distances(%pq: tensor<7xi32>, %pk: tensor<5xi32>) {
  // CHECK: seq.distances %{{.*}}, %{{.*}} : (tensor<7xi32>, tensor<5xi32>) -> tensor<7x5xf32>
  %far = seq.distances %pq, %pk : (tensor<7xi32>, tensor<5xi32>) -> tensor<7x5xf32>
  // CHECK: seq.distances %{{.*}}, %{{.*}} {last = 9 : i64} : (tensor<7xi32>, tensor<5xi32>) -> tensor<7x5xf32>
  %near = seq.distances %pq, %pk {last = 9 : i64} : (tensor<7xi32>, tensor<5xi32>) -> tensor<7x5xf32>
  return
}

// CHECK-LABEL: func.func @key_numbers
func.func @key_numbers(%scores: tensor<6x7x5xf32>, %d: tensor<5x2xf32>) {
  // CHECK: seq.key_numbers <bias> %{{.*}}, %{{.*}} : tensor<6x7x5xf32>, tensor<5x2xf32>
  %y = seq.key_numbers <bias> %scores, %d : tensor<6x7x5xf32>, tensor<5x2xf32>
  return
}

// CHECK-LABEL: func.func @at_start
func.func @at_start(%p: tensor<?xi32>) {
  // CHECK: seq.at_start %{{.*}} : tensor<?xi32> -> tensor<?xf32>
  %first = seq.at_start %p : tensor<?xi32> -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @ring_row
func.func @ring_row(%p: tensor<?xi32>) {
  // CHECK: seq.ring_row %{{.*}} : tensor<?xi32> -> tensor<?x4xf32>
  %row = seq.ring_row %p : tensor<?xi32> -> tensor<?x4xf32>
  return
}
