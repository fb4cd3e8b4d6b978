// RUN: effc-opt %s -split-input-file -verify-diagnostics

// view3
// expected-error @below {{expects a view of f32, bf16, f16, i32, i64 or blocks of codes, but got 'i8'}}
func.func private @f(!tile.view<4x8xi8, [8, 1]>)

// -----

!q = !storage.block<"q", elements = 8, bytes = 8, digits = [8], code = int [8 at 0 [8]]>
// view4
// expected-error @below {{expects rows of whole blocks, multiples of 8 elements, but got a stride of 12}}
func.func private @f(!tile.view<4x12x!q, [12, 1]>)

// -----

!q = !storage.block<"q", elements = 8, bytes = 8, digits = [8], code = int [8 at 0 [8]]>
// expected-error @below {{static f32 tensor or 2-D or 3-D static bf16, f16 or whole-block tensor}}
seq.weight @w source("w") : tensor<4x12x!q>

// -----

!q = !storage.block<"q", elements = 8, bytes = 8, digits = [8], code = int [8 at 0 [8]]>
tile.kernel @store(%item, %x: !tile.view<?x8xf32, [16, 1]>, %y: !tile.view<?x8x!q, [8, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 8] : !tile.view<?x8xf32, [16, 1]> -> !tile.tile<8xf32, row>
  // store1
  // expected-error @below {{expects a view of digits, of rows of bytes or of elements with bytes of their own, but got one of}}
  tile.store %a, %y[%item, %c0] sizes [1, 8] : !tile.tile<8xf32, row>, !tile.view<?x8x!q, [8, 1]>
}

// -----

// store2: half a block
tile.kernel @half(%item, %y: !tile.view<?x48x!storage.digits<3>, [64, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(0) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  %a = tile.splat %f : !tile.tile<48xf32, row>
  // expected-error @below {{expects whole blocks of 32 digits, but got a tile of 48 columns}}
  tile.store %a, %y[%item, %c0] sizes [1, 48] : !tile.tile<48xf32, row>, !tile.view<?x48x!storage.digits<3>, [64, 1]>
}
