// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// A weight as the checkpoint holds it, and one held transposed.

// CHECK: seq.weight @layers.0.in_proj source("backbone.layers.0.mixer.in_proj.weight") : tensor<3352x768xbf16>
seq.weight @layers.0.in_proj source("backbone.layers.0.mixer.in_proj.weight")
    : tensor<3352x768xbf16>
// CHECK: seq.weight @layers.0.conv source("backbone.layers.0.mixer.conv1d.weight") transposed : tensor<4x1792xf32>
seq.weight @layers.0.conv source("backbone.layers.0.mixer.conv1d.weight")
    transposed : tensor<4x1792xf32>
