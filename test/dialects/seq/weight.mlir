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
// CHECK: seq.weight @positions source("heads.0.weight") then ["heads.1.weight"] transposed : tensor<540x2xf32>
seq.weight @positions source("heads.0.weight") then ["heads.1.weight"] transposed
    : tensor<540x2xf32>
// CHECK: seq.weight @experts source("experts.0.up") then ["experts.1.up"] : tensor<6x5xbf16>
seq.weight @experts source("experts.0.up") then ["experts.1.up"] : tensor<6x5xbf16>
// CHECK: seq.weight @bonus source("bonus") stored [3, 4] : tensor<12xf32>
seq.weight @bonus source("bonus") stored [3, 4] : tensor<12xf32>
// CHECK: seq.weight @query source("qkv") rows(<offset = 0, size = 8, stride = 24, count = 3>) : tensor<24x5xbf16>
seq.weight @query source("qkv") rows(#seq.row_groups<offset = 0, size = 8, stride = 24, count = 3>)
    : tensor<24x5xbf16>
// CHECK: seq.weight @taps computed(#seq.row_numbers<numbers = [1.000000e+00, -1.000000e+00]>) : tensor<2x6xf32>
seq.weight @taps computed(#seq.row_numbers<numbers = [1.0, -1.0]>) : tensor<2x6xf32>
// CHECK: seq.weight @scales computed(#seq.position_scales<beta = 1.000000e-01 : f64, original_context = 16>) : tensor<40x1xf32>
seq.weight @scales computed(#seq.position_scales<beta = 0.1 : f64, original_context = 16>) : tensor<40x1xf32>
// CHECK: seq.weight @levels computed(#seq.fenwick_levels<number = forgotten>) : tensor<40x7xf32>
seq.weight @levels computed(#seq.fenwick_levels<number = forgotten>) : tensor<40x7xf32>
// CHECK: seq.weight @values source("kv_b") rows(<offset = 4, size = 7, stride = 11, count = 3>) : tensor<3x7x5xf32>
seq.weight @values source("kv_b") rows(#seq.row_groups<offset = 4, size = 7, stride = 11, count = 3>)
    : tensor<3x7x5xf32>
// CHECK: seq.weight @keys source("kv_b") rows(<offset = 0, size = 4, stride = 11, count = 3>) transposed : tensor<3x5x4xf32>
seq.weight @keys source("kv_b") rows(#seq.row_groups<offset = 0, size = 4, stride = 11, count = 3>)
    transposed : tensor<3x5x4xf32>
// CHECK: seq.weight @turned source("conv1d") rows(<offset = 6, size = 6, stride = 18, count = 1>) transposed : tensor<4x6xf32>
seq.weight @turned source("conv1d") rows(#seq.row_groups<offset = 6, size = 6, stride = 18, count = 1>)
    transposed : tensor<4x6xf32>
// CHECK: seq.weight @sums source("r_k") stored [3, 4] derived(<rule = repeated>) : tensor<3x5x4xf32>
seq.weight @sums source("r_k") stored [3, 4] derived(#seq.derivation<rule = repeated>) : tensor<3x5x4xf32>
// CHECK: seq.weight @decay source("decay") derived(<rule = negated_exponential>) : tensor<12xf32>
seq.weight @decay source("decay") derived(#seq.derivation<rule = negated_exponential>)
    : tensor<12xf32>
// CHECK: seq.weight @bound source("bounds") stored [5, 6] derived(<rule = lower_bound, layer = 3>) : tensor<2x3xf32>
seq.weight @bound source("bounds") stored [5, 6]
    derived(#seq.derivation<rule = lower_bound, layer = 3>) : tensor<2x3xf32>
// CHECK: seq.weight @frequencies computed(#seq.rotary_frequencies<scaling = default, theta = 1.000000e+04 : f64>) : tensor<32xf32>
seq.weight @frequencies computed(#seq.rotary_frequencies<scaling = default,
    theta = 1.0e4 : f64>) : tensor<32xf32>
// CHECK: seq.weight @decays computed(#seq.head_decays<rule = retention>) : tensor<6xf32>
seq.weight @decays computed(#seq.head_decays<rule = retention>) : tensor<6xf32>
// CHECK: seq.weight @both computed(#seq.rotary_frequencies<scaling = longrope_steps, theta = 1.000000e+04 : f64, original_context = 64, divisors = [1.000000e+00, 1.500000e+00, 2.000000e+00, 3.000000e+00]>) : tensor<128x2xf32>
seq.weight @both computed(#seq.rotary_frequencies<scaling = longrope_steps, theta = 1.0e4 : f64, original_context = 64,
    divisors = [1.0, 1.5, 2.0, 3.0]>) : tensor<128x2xf32>
// CHECK: seq.weight @steps computed(#seq.rotary_frequencies<scaling = dynamic_steps, theta = 1.000000e+04 : f64, factor = 2.000000e+00 : f64, original_context = 64>) : tensor<128x32xf32>
seq.weight @steps computed(#seq.rotary_frequencies<scaling = dynamic_steps, theta = 1.0e4 : f64, factor = 2.0 : f64,
    original_context = 64>) : tensor<128x32xf32>
// CHECK: seq.weight @order source("q.input_order") channel_order : tensor<96xf32>
seq.weight @order source("q.input_order") channel_order : tensor<96xf32>
