// RUN: effc-opt %s --split-input-file --verify-diagnostics

// The constraints of tile.load, on a store.

func.func @load1_indices(%x: !tile.view<?x24x64xf32, [3352, 64, 1]>, %a: !tile.tile<16x64xf32, operand>, %i: index) {
  // expected-error @+1 {{expects 3 indices and sizes, one for each dimension of the view, but got 2 and 3}}
  tile.store %a, %x[%i, %i] sizes [16, 1, 64] : !tile.tile<16x64xf32, operand>, !tile.view<?x24x64xf32, [3352, 64, 1]>
  return
}

// -----

func.func @load1_sizes(%x: !tile.view<?x24x64xf32, [3352, 64, 1]>, %a: !tile.tile<16x64xf32, operand>, %i: index) {
  // expected-error @+1 {{expects 3 indices and sizes, one for each dimension of the view, but got 3 and 2}}
  tile.store %a, %x[%i, %i, %i] sizes [16, 64] : !tile.tile<16x64xf32, operand>, !tile.view<?x24x64xf32, [3352, 64, 1]>
  return
}

// -----

func.func @load2_sizes_transposed(%x: !tile.view<?x24x64xf32, [3352, 64, 1]>, %a: !tile.tile<16x64xf32, operand>, %i: index) {
  // expected-error @+1 {{expects 'sizes' to hold the tile's dimensions 16, 64, but got 64, 1, 16}}
  tile.store %a, %x[%i, %i, %i] sizes [64, 1, 16] : !tile.tile<16x64xf32, operand>, !tile.view<?x24x64xf32, [3352, 64, 1]>
  return
}

// -----

func.func @load3_columns_apart(%x: !tile.view<?x24x64xf32, [3352, 64, 1]>, %a: !tile.tile<16x24xf32, operand>, %i: index) {
  // expected-error @+1 {{expects the columns of a block to lie one element apart, but the view's stride is 64}}
  tile.store %a, %x[%i, %i, %i] sizes [16, 24, 1] : !tile.tile<16x24xf32, operand>, !tile.view<?x24x64xf32, [3352, 64, 1]>
  return
}

// -----

!bytes = !storage.block<"int8_24_f32", elements = 24, bytes = 28, digits = [24], code = uint [8 at 32 [8]] bias -128, scale = [f32 [32 at 0 [0]]]>
func.func @store3_columns(%x: !tile.view<?x24x!bytes, [24, 1]>, %a: !tile.tile<16x12xf32, operand>, %i: index) {
  // expected-error @+1 {{expects rows of 24 bytes, but got a tile of 12 columns}}
  tile.store %a, %x[%i, %i] sizes [16, 12] : !tile.tile<16x12xf32, operand>, !tile.view<?x24x!bytes, [24, 1]>
  return
}

// -----

!halves = !storage.block<"int8_24_f16", elements = 24, bytes = 26, digits = [24], code = uint [8 at 16 [8]] bias -128, scale = [f16 [16 at 0 [0]]]>
func.func @store1_blocks(%x: !tile.view<?x24x!halves, [24, 1]>, %a: !tile.tile<16x24xf32, operand>, %i: index) {
  // expected-error @+1 {{expects a view of digits, of rows of bytes or of elements with bytes of their own}}
  tile.store %a, %x[%i, %i] sizes [16, 24] : !tile.tile<16x24xf32, operand>, !tile.view<?x24x!halves, [24, 1]>
  return
}
