// RUN: effc-opt %s -split-input-file -verify-diagnostics

!q4_1 = !storage.block<"q4_1", elements = 32, bytes = 20, digits = [2, 16],
  code = uint [4 at 32 [4, 8]], scale = [f16 [16 at 0 [0, 0]]],
  plus = [f16 [16 at 16 [0, 0]]]>
// weight10: 416 elements are no multiple of 256
// expected-error @below {{expects rows of blocks outside of panels that have whole bundles of 8, but got 'tensor<7x416x!storage.block}}
seq.weight @a source("a") bundles(8) : tensor<7x416x!q4_1>

// -----

!q4_1 = !storage.block<"q4_1", elements = 32, bytes = 20, digits = [2, 16],
  code = uint [4 at 32 [4, 8]], scale = [f16 [16 at 0 [0, 0]]],
  plus = [f16 [16 at 16 [0, 0]]]>
// weight10: two words of 32 bits
// expected-error @below {{expects rows of blocks outside of panels that have whole bundles of 2, but got 'tensor<7x384x!storage.block}}
seq.weight @a source("a") bundles(2) : tensor<7x384x!q4_1>

// -----

!q4_1 = !storage.block<"q4_1", elements = 32, bytes = 20, digits = [2, 16],
  code = uint [4 at 32 [4, 8]], scale = [f16 [16 at 0 [0, 0]]],
  plus = [f16 [16 at 16 [0, 0]]]>
// weight10: in two orders
// expected-error @below {{expects rows of blocks outside of panels}}
seq.weight @a source("a") panels bundles(4) : tensor<16x384x!q4_1>

// -----

// weight10
// expected-error @below {{expects rows of blocks outside of panels that have whole bundles of 4, but got 'tensor<7x384xbf16>'}}
seq.weight @a source("a") bundles(4) : tensor<7x384xbf16>
