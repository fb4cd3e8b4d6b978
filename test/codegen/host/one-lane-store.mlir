// RUN: effc-opt %s --host-lower-kernels --canonicalize | FileCheck %s
// RUN: sed 's/vector = 16, registers = 32/vector = 8, registers = 16/' %s | effc-opt --host-lower-kernels --canonicalize | FileCheck %s --check-prefix=EIGHT

// The last of 17 columns is one lane. With vectors of 16, which are AVX-512's, it is
// stored as one element: LLVM 22 makes a masked store of one truncated lane a store
// of 32 bits there. With vectors of 8 the mask stays.
// CHECK-LABEL: llvm.func @last_column
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 2 : i64} : vector<16xi16>
// CHECK: %[[ONE:.*]] = vector.extract %{{.*}}[0] : i16 from vector<16xi16>
// CHECK: llvm.store %[[ONE]], %{{.*}} {alignment = 2 : i64} : i16
// CHECK-NOT: llvm.intr.masked.store
// EIGHT-LABEL: llvm.func @last_column
// EIGHT: llvm.intr.masked.store {{.*}} : vector<8xi16>
module attributes {tile.target = #tile.target<host, bit_stable = true, code = "x86-64-v4",
    cpu = "x86-64-v4", vector = 16, registers = 32, step_rate = 22, dot_rate = 18, state_bytes = 32768>} {
tile.kernel @last_column(%item, %x: !tile.view<?x17xf32, [32, 1]>, %y: !tile.view<?x17xbf16, [17, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 17] : !tile.view<?x17xf32, [32, 1]> -> !tile.tile<17xf32, row>
  tile.store %a, %y[%item, %c0] sizes [1, 17] : !tile.tile<17xf32, row>, !tile.view<?x17xbf16, [17, 1]>
}
}
