// RUN: effc-opt %s --split-input-file --verify-diagnostics

func.func @dot1_not_transposed(%acc: !tile.tile<4x12xf32, accumulator>, %x: !tile.tile<4x7xf32, operand>, %w: !tile.tile<12x7xf32, operand>) {
  // expected-error @+2 {{expects M x K times K x N into M x N, but got 4 x 7 times 12 x 7 into 4 x 12}}
  // expected-note @+1 {{'b' looks transposed: mark it transpose_b}}
  %y = tile.dot %acc, %x, %w : !tile.tile<4x12xf32, accumulator>, !tile.tile<4x7xf32, operand>, !tile.tile<12x7xf32, operand>
  return
}

// -----

func.func @dot1_inner(%acc: !tile.tile<4x12xf32, accumulator>, %x: !tile.tile<4x7xf32, operand>, %w: !tile.tile<12x5xf32, operand>) {
  // expected-error @+1 {{expects M x K times K x N into M x N, but got 4 x 7 times 5 x 12 into 4 x 12}}
  %y = tile.dot %acc, %x, %w transpose_b : !tile.tile<4x12xf32, accumulator>, !tile.tile<4x7xf32, operand>, !tile.tile<12x5xf32, operand>
  return
}

// -----

func.func @dot2_operand(%acc: !tile.tile<4x12xf32, operand>, %x: !tile.tile<4x7xf32, operand>, %w: !tile.tile<7x12xf32, operand>) {
  // expected-error @+1 {{expects blocks and an accumulator, but got '!tile.tile<4x12xf32, operand>'}}
  %y = tile.dot %acc, %x, %w : !tile.tile<4x12xf32, operand>, !tile.tile<4x7xf32, operand>, !tile.tile<7x12xf32, operand>
  return
}

// -----

func.func @dot2_row(%acc: !tile.tile<1x12xf32, accumulator>, %x: !tile.tile<7xf32, row>, %w: !tile.tile<7x12xf32, operand>) {
  // expected-error @+1 {{expects blocks and an accumulator, but got '!tile.tile<1x12xf32, accumulator>', '!tile.tile<7xf32, row>'}}
  %y = tile.dot %acc, %x, %w : !tile.tile<1x12xf32, accumulator>, !tile.tile<7xf32, row>, !tile.tile<7x12xf32, operand>
  return
}

// -----

func.func @dot3(%acc: !tile.tile<4x12xf32, accumulator>, %x: !tile.tile<4x7xf32, operand>, %w: !tile.tile<7x12xf32, operand>) {
  // expected-error @+1 {{expects to round to bf16, f16, tf32 or digits, but got 'f64'}}
  %y = tile.dot %acc, %x, %w rounded to f64 : !tile.tile<4x12xf32, accumulator>, !tile.tile<4x7xf32, operand>, !tile.tile<7x12xf32, operand>
  return
}

// -----

!sums = !tile.tile<64x32xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x24xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
!columns = !tile.tile<24x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36>>
func.func @dot4_half_a_piece(%acc: !sums, %x: !rows, %w: !columns) {
  // expected-error @+1 {{expects operands in shared memory, or 'a' in whole rows as 'acc' lies, but got}}
  %y = tile.dot %acc, %x, %w : !sums, !rows, !columns
  return
}

// -----

!sums = !tile.tile<64x32xf32, accumulator, #tile.mma<threads = 128, row_warps = 2>>
!rows = !tile.tile<64x16xf32, operand, #tile.mma<threads = 128, row_warps = 2>>
!columns = !tile.tile<16x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36>>
func.func @dot4_parts_of_rows(%acc: !sums, %x: !rows, %w: !columns) {
  // expected-error @+1 {{expects operands in shared memory, or 'a' in whole rows as 'acc' lies, but got}}
  %y = tile.dot %acc, %x, %w : !sums, !rows, !columns
  return
}

// -----

!sums = !tile.tile<64x32xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x16xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
!columns = !tile.tile<16x32xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
func.func @dot4_columns(%acc: !sums, %x: !rows, %w: !columns) {
  // expected-error @+1 {{expects operands in shared memory, or 'a' in whole rows as 'acc' lies, but got}}
  %y = tile.dot %acc, %x, %w : !sums, !rows, !columns
  return
}

// -----

!sums = !tile.tile<64x64xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
!columns = !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, offset = 2048, stride = 72>>
func.func @dot5_columns_elsewhere(%acc: !sums, %x: !rows, %w: !columns) {
  // expected-error @+1 {{expects operands that lie as #tile.mma_sync takes them, but got}}
  %y = tile.dot %acc, %x, %w transpose_a : !sums, !rows, !columns
  return
}

// -----

!sums = !tile.tile<64x64xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
!columns = !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 8192, stride = 64>>
func.func @dot5_rows_as_they_are(%acc: !sums, %x: !rows, %w: !columns) {
  // expected-error @+1 {{expects operands that lie as #tile.wgmma takes them, but got}}
  %y = tile.dot %acc, %x, %w by(#tile.wgmma) : !sums, !rows, !columns
  return
}

// -----

!sums = !tile.tile<64x64xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, offset = 0, stride = 72>>
!columns = !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 16384, stride = 64>>
func.func @dot5_unit_not_named(%acc: !sums, %x: !rows, %w: !columns) {
  // expected-error @+1 {{expects operands that lie as #tile.mma_sync takes them, but got}}
  %y = tile.dot %acc, %x, %w transpose_b : !sums, !rows, !columns
  return
}

// -----

!sums = !tile.tile<64x64xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
!rows = !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, offset = 0, stride = 72>>
func.func @dot5_not_its_columns(%acc: !sums, %x: !rows) {
  // expected-error @+1 {{expects operands that lie as #tile.wgmma takes them, but got}}
  %y = tile.dot %acc, %x, %x transpose_b by(#tile.wgmma) : !sums, !rows, !rows
  return
}

// -----

func.func @dot7(%acc: !tile.tile<4x12xf32, accumulator>, %x: !tile.tile<4x7xf32, operand>, %w: !tile.tile<7x12xf32, operand>) {
  // expected-error @+1 {{expects a unit at scheduled level alone, but got #tile.wgmma and '!tile.tile<7x12xf32, operand>'}}
  %y = tile.dot %acc, %x, %w by(#tile.wgmma) : !tile.tile<4x12xf32, accumulator>, !tile.tile<4x7xf32, operand>, !tile.tile<7x12xf32, operand>
  return
}

// -----

func.func @dot6(%acc: !tile.tile<4x12xf32, accumulator>, %x: !tile.tile<4x32xf32, operand>, %w: !tile.tile<32x12xf32, operand>) {
  // expected-error @+1 {{expects operands along the contraction where 'a' is rounded to digits}}
  %y = tile.dot %acc, %x, %w rounded to !storage.digits<3> : !tile.tile<4x12xf32, accumulator>, !tile.tile<4x32xf32, operand>, !tile.tile<32x12xf32, operand>
  return
}
