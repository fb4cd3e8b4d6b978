// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// A weight as the checkpoint holds it, one held transposed, and one that the config gives.

// CHECK: seq.weight @layers.0.in_proj source("backbone.layers.0.mixer.in_proj.weight") : tensor<3352x768xbf16>
seq.weight @layers.0.in_proj source("backbone.layers.0.mixer.in_proj.weight")
    : tensor<3352x768xbf16>
// CHECK: seq.weight @layers.0.conv source("backbone.layers.0.mixer.conv1d.weight") transposed : tensor<4x1792xf32>
seq.weight @layers.0.conv source("backbone.layers.0.mixer.conv1d.weight")
    transposed : tensor<4x1792xf32>
// Blocks of the same kind.
// CHECK: seq.weight @gate source("gate") transposed : tensor<2x5x3xbf16>
seq.weight @gate source("gate") transposed : tensor<2x5x3xbf16>
// CHECK: seq.weight @frequencies computed(#seq.rotary_frequencies<scaling = default, theta = 1.000000e+04 : f64>) : tensor<32xf32>
seq.weight @frequencies computed(#seq.rotary_frequencies<scaling = default,
    theta = 1.0e4 : f64>) : tensor<32xf32>
// CHECK: seq.weight @decays computed(#seq.head_decays<rule = retention>) : tensor<6xf32>
seq.weight @decays computed(#seq.head_decays<rule = retention>) : tensor<6xf32>
// CHECK: seq.weight @steps computed(#seq.rotary_frequencies<scaling = dynamic_steps, theta = 1.000000e+04 : f64, factor = 2.000000e+00 : f64, original_context = 64>) : tensor<128x32xf32>
seq.weight @steps computed(#seq.rotary_frequencies<scaling = dynamic_steps, theta = 1.0e4 : f64, factor = 2.0 : f64,
    original_context = 64>) : tensor<128x32xf32>
