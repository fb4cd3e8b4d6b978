// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @shift
func.func @shift(%a: !tile.tile<64xf32, row>) {
  // CHECK: tile.shift %{{.*}} by -1 : <64xf32, row>
  %left = tile.shift %a by -1 : !tile.tile<64xf32, row>
  return
}
