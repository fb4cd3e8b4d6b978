// RUN: effc-opt %s -split-input-file -verify-diagnostics

// panel1
!short = !storage.block<"short", elements = 16, bytes = 18, digits = [16],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
// expected-error @below {{expects blocks of a multiple of 32 elements with codes of at most 8 bits, and scales of all of them or of 8 bits for 16 or more, but got 'short'}}
func.func private @f(!tile.view<48x64x!storage.panel<!short>, [64, 1]>)

// -----

// panel2: a scale for each 8
!eighths = !storage.block<"eighths", elements = 32, bytes = 36, digits = [4, 8],
  code = int [8 at 0 [64, 8]], scale = [uint [8 at 256 [8, 0]]]>
// expected-error @below {{expects blocks of a multiple of 32 elements with codes of at most 8 bits, and scales of all of them or of 8 bits for 16 or more, but got 'eighths'}}
func.func private @f(!tile.view<48x64x!storage.panel<!eighths>, [64, 1]>)

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
