// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each module breaks the constraint it is named by.

// WEIGHT1: bf16 is for matrices.
// expected-error @+1 {{failed to satisfy constraint: type attribute of static f32 tensor or 2-D or 3-D static bf16, f16 or whole-block tensor}}
seq.weight @weight1_bf16_vector source("a") : tensor<6xbf16>

// -----

// WEIGHT1: a weight has a size.
// expected-error @+1 {{failed to satisfy constraint: type attribute of static f32 tensor or 2-D or 3-D static bf16, f16 or whole-block tensor}}
seq.weight @weight1_dynamic source("a") : tensor<?x6xf32>

// -----

// WEIGHT2
// expected-error @+1 {{expects a 'source' that is not empty, but got ""}}
seq.weight @weight2_no_source source("") : tensor<6xf32>

// -----

// WEIGHT3
// expected-error @+1 {{expects a 'transposed' weight of 2 or 3 dimensions, but got 1}}
seq.weight @weight3_transposed_vector source("a") transposed : tensor<6xf32>

// -----

// WEIGHT2
// expected-error @+1 {{expects no 'source' beside 'computed', but got "a"}}
seq.weight @weight2_both source("a") computed(#seq.rotary_frequencies<scaling = default, theta = 1.0e4 : f64>) : tensor<6xf32>

// -----

// WEIGHT4
// expected-error @+1 {{expects a 'computed' weight of f32 and 1 dimension, but got 'tensor<2x3xf32>'}}
seq.weight @weight4_matrix computed(#seq.rotary_frequencies<scaling = default, theta = 1.0e4 : f64>) : tensor<2x3xf32>

// -----

// WEIGHT4
// expected-error @+1 {{expects a divisor for each of the 3 frequencies, but got 2}}
seq.weight @weight4_divisors computed(#seq.rotary_frequencies<scaling = longrope, theta = 1.0e4 : f64, divisors = [1.0, 2.0]>) : tensor<3xf32>

// -----

// WEIGHT4
// expected-error @+1 {{expects at least 2 heads for 'lengths', but got 1}}
seq.weight @weight4_one_head computed(#seq.head_decays<rule = lengths, layer = 3, layers = 24>) : tensor<1xf32>

// -----

// WEIGHT4
// expected-error @+1 {{failed to satisfy constraint: a rule that gives a weight's numbers}}
"seq.weight"() {sym_name = "weight4_no_rule", type = tensor<6xf32>, computed = #seq.form<kind = step>} : () -> ()

// -----

// WEIGHT4
// expected-error @+1 {{expects a 'computed' weight of f32 and 2 dimensions, positions first, but got 'tensor<6xf32>'}}
seq.weight @weight4_no_positions computed(#seq.rotary_frequencies<scaling = dynamic_steps, theta = 1.0e4 : f64, factor = 2.0 : f64, original_context = 64>) : tensor<6xf32>

// -----

// WEIGHT4
// expected-error @+1 {{expects two divisors for each of the 3 frequencies, but got 3}}
seq.weight @weight4_both computed(#seq.rotary_frequencies<scaling = longrope_steps, theta = 1.0e4 : f64, original_context = 5, divisors = [1.0, 2.0, 3.0]>) : tensor<8x3xf32>

// -----

// WEIGHT5
// expected-error @+1 {{expects 'then' to name tensors, but got [""]}}
seq.weight @weight5_no_name source("a") then [""] : tensor<6x5xf32>

// -----

// WEIGHT5
// expected-error @+1 {{expects a first dimension in 3 equal shares, but got 7}}
seq.weight @weight5_uneven source("a") then ["b", "c"] : tensor<7x5xf32>

// -----

// WEIGHT5
// expected-error @+1 {{expects a last dimension in 2 equal shares, but got 5}}
seq.weight @weight5_turned source("a") then ["b"] transposed : tensor<6x5xf32>

// -----

// expected-error @+1 {{expects a 'transposed' weight of several tensors to have 2 dimensions, but got 'tensor<2x6x4xf32>'}}
seq.weight @weight5_turned_blocks source("a") then ["b"] transposed : tensor<2x6x4xf32>

// -----

// WEIGHT6
// expected-error @+1 {{expects 'stored' of 6 elements, but got 2x4}}
seq.weight @weight6_elements source("a") stored [2, 4] : tensor<6xf32>

// -----

// WEIGHT6
// expected-error @+1 {{expects no 'stored' for a 'computed' weight}}
seq.weight @weight6_computed stored [6] computed(#seq.head_decays<rule = retention>) : tensor<6xf32>

// -----

// WEIGHT7
// expected-error @+1 {{expects a 'derived' weight of f32 and one tensor, but got 'tensor<6x5xbf16>' of 1}}
seq.weight @weight7_bf16 source("a") derived(#seq.derivation<rule = negated_exponential>) : tensor<6x5xbf16>

// -----

// WEIGHT7
// expected-error @+1 {{expects 'stored' of more than 2 rows of 6, but got 2x6}}
seq.weight @weight7_layer source("a") stored [2, 6] derived(#seq.derivation<rule = lower_bound, layer = 2>) : tensor<6xf32>

// -----

// DERIVATION1
// expected-error @+1 {{expects no 'layer' for 'negated_exponential', but got 2}}
seq.weight @derivation1_layer source("a") derived(#seq.derivation<rule = negated_exponential, layer = 2>) : tensor<6xf32>

// -----

// WEIGHT7
// expected-error @+1 {{expects H,V,K of 'stored' H,K for 'repeated', but got 'tensor<3x5x4xf32>' of 3x5}}
seq.weight @weight7_repeated source("a") stored [3, 5] derived(#seq.derivation<rule = repeated>) : tensor<3x5x4xf32>

// -----

// WEIGHT8
// expected-error @+1 {{expects a first dimension of the 24 'rows', but got 25}}
seq.weight @weight8_count source("a") rows(#seq.row_groups<offset = 0, size = 8, stride = 24, count = 3>) : tensor<25x5xf32>

// -----

// WEIGHT8
// expected-error @+1 {{expects 'rows' of one tensor as it is, but got 'then' or 'derived' as well}}
seq.weight @weight8_two source("a") then ["b"] rows(#seq.row_groups<offset = 0, size = 8, stride = 24, count = 3>) : tensor<24x5xf32>

// -----

// WEIGHT8
// expected-error @+1 {{expects a last dimension of the 6 'rows', but got 4}}
seq.weight @weight8_turned source("a") rows(#seq.row_groups<offset = 6, size = 6, stride = 18, count = 1>) transposed : tensor<6x4xf32>

// -----

// WEIGHT8
// expected-error @+1 {{expects a 'transposed' weight of 2 dimensions, or of 1 matrices of 6 'rows' each, but got 'tensor<2x4x6xf32>'}}
seq.weight @weight8_three source("a") rows(#seq.row_groups<offset = 6, size = 6, stride = 18, count = 1>) transposed : tensor<2x4x6xf32>

// -----

// ROW_GROUPS1
// expected-error @+1 {{expects 'size' of at least 1 rows from 'offset' on inside of 'stride' rows, and 'count' of at least 1, but got 8, 17, 24 and 3}}
seq.weight @row_groups1_outside source("a") rows(#seq.row_groups<offset = 17, size = 8, stride = 24, count = 3>) : tensor<24x5xf32>

// -----

// WEIGHT4
// expected-error @+1 {{expects a row for each of the 2 numbers, but got 3}}
seq.weight @weight4_numbers computed(#seq.row_numbers<numbers = [1.0, -1.0]>) : tensor<3x6xf32>

// -----

// POSITION_SCALES1
// expected-error @+1 {{expects a finite 'beta' of at least 0, but got -1.000000e-01 : f64}}
seq.weight @position_scales1_beta computed(#seq.position_scales<beta = -0.1 : f64, original_context = 16>) : tensor<2x1xf32>

// -----

// POSITION_SCALES1
// expected-error @+1 {{expects 'original_context' of at least 1, but got 0}}
seq.weight @position_scales1_context computed(#seq.position_scales<beta = 0.1 : f64, original_context = 0>) : tensor<2x1xf32>

// -----

// FENWICK_LEVELS1
// expected-error @+1 {{expects at most 32 levels, but got 33}}
seq.weight @fenwick_levels1_most computed(#seq.fenwick_levels<number = read>) : tensor<2x33xf32>

// -----

// ROW_NUMBERS1
// expected-error @+1 {{expects 'numbers' that are finite, but got }}
seq.weight @row_numbers1_none computed(#seq.row_numbers<numbers = []>) : tensor<2x6xf32>

// -----

// WEIGHT8
// expected-error @+1 {{expects 'stored' of 90 elements, of which 'rows' are a part, but got 6x14}}
seq.weight @weight8_stored source("a") stored [6, 14] rows(#seq.row_groups<offset = 1, size = 1, stride = 5, count = 6>) : tensor<6x3xf32>

// -----

// WEIGHT11
// expected-error @+1 {{expects a 'channel_order' of f32 and 1 dimension, but got 'tensor<8x12xf32>'}}
seq.weight @weight11_order source("a") channel_order : tensor<8x12xf32>
