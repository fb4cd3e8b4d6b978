// RUN: effc-opt %s --effc-phase-binary --split-input-file --verify-diagnostics | FileCheck %s

// Two kernels become one image with an entry point and a bound on the stack for
// each; functions that are no kernels stay.

// CHECK-NOT: tile.kernel
// CHECK-NOT: llvm.func
// CHECK: func.func private @other
// CHECK: plan.binary @host isa "x86-64-v3" kernels ["copy", "double"] offsets [{{[0-9]+}}, {{[0-9]+}}] stack_bytes [{{[0-9]+}}, {{[0-9]+}}] code dense<"0x{{[0-9A-F]+}}"> : tensor<{{[0-9]+}}xi8>
func.func private @other()
tile.kernel @copy(%item, %x: !tile.view<?x6xf32, [16, 1]>, %y: !tile.view<?x6xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 6] : !tile.view<?x6xf32, [16, 1]> -> !tile.tile<6xf32, row>
  tile.store %a, %y[%item, %c0] sizes [1, 6] : !tile.tile<6xf32, row>, !tile.view<?x6xf32, [16, 1]>
}
tile.kernel @double(%item, %x: !tile.view<?x6xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 6] : !tile.view<?x6xf32, [16, 1]> -> !tile.tile<6xf32, row>
  %b = tile.map(%a) : (!tile.tile<6xf32, row>) -> !tile.tile<6xf32, row> {
  ^bb0(%e: f32):
    %s = arith.addf %e, %e : f32
    tile.yield %s : f32
  }
  tile.store %b, %x[%item, %c0] sizes [1, 6] : !tile.tile<6xf32, row>, !tile.view<?x6xf32, [16, 1]>
}

// -----

// A function that has no polynomial would be a call of the C library.
// expected-error-re @+1 {{linking the host code failed: ld.lld{{.*}}: error: undefined symbol: atanf}}
module {
tile.kernel @gate(%item, %x: !tile.view<?x6xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %a = tile.read %x[%item, %c0] : !tile.view<?x6xf32, [16, 1]> -> f32
  %t = math.atan %a : f32
  %b = tile.splat %t : !tile.tile<6xf32, row>
  tile.store %b, %x[%item, %c0] sizes [1, 6] : !tile.tile<6xf32, row>, !tile.view<?x6xf32, [16, 1]>
}
}

// -----

// No kernels, no binary.
// CHECK-NOT: plan.binary
func.func private @nothing()
