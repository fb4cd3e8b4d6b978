// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @scan
func.func @scan(%a: !tile.tile<16xf32, column>) {
  // CHECK: tile.scan %{{.*}} : <16xf32, column>
  %p = tile.scan %a : !tile.tile<16xf32, column>
  // CHECK: tile.scan %{{.*}} reverse : <16xf32, column>
  %r = tile.scan %a reverse : !tile.tile<16xf32, column>
  // CHECK: tile.scan %{{.*}} exp : <16xf32, column>
  %u = tile.scan %a exp : !tile.tile<16xf32, column>
  // CHECK: tile.scan %{{.*}} reverse exp : <16xf32, column>
  %e = tile.scan %a reverse exp : !tile.tile<16xf32, column>
  // CHECK: tile.segment_decay %{{.*}} : <16xf32, column> -> <16x16xf32, operand>
  %l = tile.segment_decay %a : !tile.tile<16xf32, column> -> !tile.tile<16x16xf32, operand>
  return
}

// At scheduled level threads share decays of parts through shared memory.
// CHECK-LABEL: func.func @scheduled
func.func @scheduled(%a: !tile.tile<16xf32, column, #tile.shared<threads = 32, offset = 0, stride = 1>>) {
  // CHECK: tile.segment_decay %{{.*}} scratch 64 :
  %l = tile.segment_decay %a scratch 64 : !tile.tile<16xf32, column, #tile.shared<threads = 32, offset = 0, stride = 1>> -> !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
  return
}
