// RUN: effc-opt %s -split-input-file -verify-diagnostics

// panel1
!short = !storage.block<"short", elements = 16, bytes = 18, digits = [16],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
// expected-error @below {{expects blocks of a multiple of 32 elements with codes of integers of at most 8 bits, and scales of all of them or of 8 bits for 16 or more, but got 'short'}}
func.func private @f(!tile.view<48x64x!storage.panel<!short>, [64, 1]>)

// -----

// panel2: a scale for each 8
!eighths = !storage.block<"eighths", elements = 32, bytes = 36, digits = [4, 8],
  code = int [8 at 0 [64, 8]], scale = [uint [8 at 256 [8, 0]]]>
// expected-error @below {{expects blocks of a multiple of 32 elements with codes of integers of at most 8 bits, and scales of all of them or of 8 bits for 16 or more, but got 'eighths'}}
func.func private @f(!tile.view<48x64x!storage.panel<!eighths>, [64, 1]>)

// -----

// panel1: no integers
!eighths = !storage.block<"eighths", elements = 32, bytes = 36, digits = [32],
  code = e4m3 [8 at 0 [8]], scale = [f32 [32 at 256 [0]]]>
// expected-error @below {{with codes of integers of at most 8 bits, and scales of all of them or of 8 bits for 16 or more, but got 'eighths'}}
func.func private @f(!tile.view<48x64x!storage.panel<!eighths>, [64, 1]>)

// -----

// panel1: entries that are further apart than bytes are
!far = !storage.block<"far", elements = 32, bytes = 8, digits = [4, 8],
  code = uint [1 at 0 [8, 1]] table [-1, 255], scale = [f32 [32 at 32 [0, 0]]]>
// expected-error @below {{with codes of integers of at most 8 bits, and scales of all of them or of 8 bits for 16 or more, but got 'far'}}
func.func private @f(!tile.view<48x64x!storage.panel<!far>, [64, 1]>)

// -----

// panel2: a zero that may be negative
!below = !storage.block<"below", elements = 32, bytes = 35, digits = [32],
  code = uint [8 at 0 [8]], zero = [int [8 at 256 [0]]], scale = [f16 [16 at 264 [0]]]>
// expected-error @below {{with codes of integers of at most 8 bits, and scales of all of them or of 8 bits for 16 or more, but got 'below'}}
func.func private @f(!tile.view<48x64x!storage.panel<!below>, [64, 1]>)

// -----

// digits1
// expected-error @below {{expects 1 to 3 digits, but got 4}}
func.func private @f(!tile.view<?x64x!storage.digits<4>, [64, 1]>)

// -----

!q4_1 = !storage.block<"q4_1", elements = 32, bytes = 20, digits = [2, 16],
  code = uint [4 at 32 [4, 8]], scale = [f16 [16 at 0 [0, 0]]],
  plus = [f16 [16 at 16 [0, 0]]]>
// weight9
// expected-error @below {{expects a matrix of blocks that there are panels of beside 'panels', but got 'tensor<7x3x96x!storage.block}}
seq.weight @a source("a") panels : tensor<7x3x96x!q4_1>

// -----

// weight9
// expected-error @below {{expects a matrix of blocks that there are panels of beside 'panels', but got 'tensor<7x96xbf16>'}}
seq.weight @a source("a") panels : tensor<7x96xbf16>
