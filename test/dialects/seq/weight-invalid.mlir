// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each module breaks the constraint it is named by.

// WEIGHT1: bf16 is for matrices.
// expected-error @+1 {{failed to satisfy constraint: type attribute of static f32 tensor or 2-D or 3-D static bf16 or f16 tensor}}
seq.weight @weight1_bf16_vector source("a") : tensor<6xbf16>

// -----

// WEIGHT1: a weight has a size.
// expected-error @+1 {{failed to satisfy constraint: type attribute of static f32 tensor or 2-D or 3-D static bf16 or f16 tensor}}
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
