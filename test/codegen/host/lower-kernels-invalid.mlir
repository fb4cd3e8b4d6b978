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
  // expected-error @+1 {{'tile.dot' op is rounded, and the host's products are exact}}
  %d = tile.dot %zero, %a, %b transpose_b rounded to bf16 : !tile.tile<4x5xf32, accumulator>,
      !tile.tile<4x8xf32, operand>, !tile.tile<5x8xf32, operand>
  tile.store %d, %y[%item, %c0] sizes [4, 5]
      : !tile.tile<4x5xf32, accumulator>, !tile.view<?x5xf32, [5, 1]>
}
