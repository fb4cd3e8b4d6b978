// RUN: effc-opt %s --host-lower-kernels --split-input-file --verify-diagnostics

tile.kernel @no_lowering(%item, %y: !tile.view<?x64xf32, [64, 1]>) items(#tile.items<rows, tile = 1, times = 1>) writes(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 1024>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %y[%item, %c0] sizes [1, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  // expected-error @+1 {{'tile.convert' op has no lowering to the host}}
  %o = tile.convert %a : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
      -> !tile.tile<64xf32, row, #tile.shared<threads = 128, offset = 0, stride = 1>>
}

// -----

tile.kernel @rounded(%item, %x: !tile.view<?x8xf32, [8, 1]>, %w: !tile.view<5x8xf32, [8, 1]>,
                     %y: !tile.view<?x5xf32, [5, 1]>)
    items(#tile.items<rows, tile = 4, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : !tile.tile<4x5xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [4, 8]
      : !tile.view<?x8xf32, [8, 1]> -> !tile.tile<4x8xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [5, 8]
      : !tile.view<5x8xf32, [8, 1]> -> !tile.tile<5x8xf32, operand>
  // expected-error @+1 {{'tile.dot' op expects rows rounded to digits and a matrix in panels on the host, but got '!storage.digits<3>' and 'f32'}}
  %d = tile.dot %zero, %a, %b transpose_b rounded to !storage.digits<3> : !tile.tile<4x5xf32, accumulator>,
      !tile.tile<4x8xf32, operand>, !tile.tile<5x8xf32, operand>
  tile.store %d, %y[%item, %c0] sizes [4, 5]
      : !tile.tile<4x5xf32, accumulator>, !tile.view<?x5xf32, [5, 1]>
}

// -----

!q4_0 = !storage.block<"q4_0", elements = 32, bytes = 18, digits = [2, 16],
  code = uint [4 at 16 [4, 8]] bias -8, scale = [f16 [16 at 0 [0, 0]]]>
!w = !tile.view<48x32x!storage.panel<!q4_0>, [32, 1]>
tile.kernel @inside_a_panel(%item, %x: !tile.view<?x32xf32, [32, 1]>, %w: !w, %y: !tile.view<?x16xf32, [16, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %f = arith.constant 0.0 : f32
  %zero = tile.splat %f : !tile.tile<1x16xf32, accumulator>
  %a = tile.load %x[%item, %c0] sizes [1, 32] : !tile.view<?x32xf32, [32, 1]> -> !tile.tile<1x32xf32, operand>
  %b = tile.load %w[%c8, %c0] sizes [16, 32] : !w -> !tile.tile<16x32xf32, operand>
  // expected-error @+1 {{'tile.dot' op expects a matrix from a multiple of 16 rows on}}
  %s = tile.dot %zero, %a, %b transpose_b rounded to !storage.digits<3> : !tile.tile<1x16xf32, accumulator>, !tile.tile<1x32xf32, operand>, !tile.tile<16x32xf32, operand>
  tile.store %s, %y[%item, %c0] sizes [1, 16] : !tile.tile<1x16xf32, accumulator>, !tile.view<?x16xf32, [16, 1]>
}
