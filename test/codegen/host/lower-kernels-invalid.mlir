// RUN: effc-opt %s --host-lower-kernels --verify-diagnostics

tile.kernel @no_lowering(%item, %y: !tile.view<?x64xf32, [64, 1]>) items(#tile.items<rows, tile = 1, times = 1>) writes(0)
    schedule(#tile.schedule<threads = 128, shared_bytes = 1024>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %y[%item, %c0] sizes [1, 64]
      : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
  // expected-error @+1 {{'tile.convert' op has no lowering to the host}}
  %o = tile.convert %a : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
      -> !tile.tile<64xf32, row, #tile.shared<threads = 128, offset = 0, stride = 1>>
}
