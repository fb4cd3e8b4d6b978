// RUN: effc-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Each attribute breaks the constraint it is labelled with.

// LIN1
// expected-error @+1 {{expects 'heads_per_group' of at least 1, but got 0}}
"test.op"() {test.a = #seq.linear<decay = head, field = real, input_gate = value, low_rank = none, read = after_write, bonus = false, feed_through = true, normaliser = none, stabiliser = none, heads_per_group = 0>} : () -> ()

// -----

// LIN2
// expected-error @+1 {{expects 'writes' of at least 1, but got 0}}
"test.op"() {test.a = #seq.linear<decay = head, field = real, input_gate = value, low_rank = none, read = after_write, bonus = false, feed_through = true, normaliser = none, stabiliser = none, heads_per_group = 3, writes = 0>} : () -> ()

// -----

// STR1: a linear mixer without its record
// expected-error @+1 {{expects a record 'linear' for the class 'linear' alone, but got the class 'linear' without one}}
"test.op"() {test.a = #seq.structure<class = linear>} : () -> ()

// -----

// STR1: another mixer with one
// expected-error @+1 {{expects a record 'linear' for the class 'linear' alone, but got the class 'window' with one}}
"test.op"() {test.a = #seq.structure<class = window, linear = <decay = head, field = real, input_gate = value, low_rank = none, read = after_write, bonus = false, feed_through = true, normaliser = none, stabiliser = none, heads_per_group = 1>>} : () -> ()

// -----

// STR1: a retrieval without its record
// expected-error @+1 {{expects a record 'retrieval' for the class 'retrieval' alone, but got the class 'retrieval' without one}}
"test.op"() {test.a = #seq.structure<class = retrieval>} : () -> ()

// -----

// A record of no class
// expected-error @+1 {{expects the name of a record, but got 'other'}}
"test.op"() {test.a = #seq.structure<class = opaque, other = <>>} : () -> ()

// -----

// RET1: three axes
// expected-error @+1 {{expects 'axes' of 1 or 2, but got 3}}
"test.op"() {test.a = #seq.retrieval<axes = 3, heads = 2, top_k = 4, weighting = softmax, content = row, nonlinearity = identity, weight_inside = false>} : () -> ()

// -----

// RET1: nothing chosen
// expected-error @+1 {{expects 'heads' and 'top_k' of at least 1, but got 2 and 0}}
"test.op"() {test.a = #seq.retrieval<axes = 2, heads = 2, top_k = 0, weighting = softmax, content = row, nonlinearity = identity, weight_inside = false>} : () -> ()

// -----

// RET2
// expected-error @+1 {{expects 'weight_inside' with the content 'neuron' alone, but got it with 'network'}}
"test.op"() {test.a = #seq.retrieval<axes = 1, heads = 1, top_k = 4, weighting = softmax, content = network, nonlinearity = silu, weight_inside = true>} : () -> ()

// -----

// STR1: a window without its record
// expected-error @+1 {{expects a record 'window' for the class 'window' alone, but got the class 'window' without one}}
"test.op"() {test.a = #seq.structure<class = window>} : () -> ()

// -----

// WIN1
// expected-error @+1 {{expects 'window' and 'keep' of at least 0, but got -1 and 0}}
"test.op"() {test.a = #seq.window<window = -1, scale = 0.5 : f64, soft_cap = 0.0 : f64, sinks = false, slopes = false, key_score = none, keep = 0, heads_per_key = 1, heads_per_value = 1>} : () -> ()

// -----

// WIN1: nothing to choose by
// expected-error @+1 {{expects a 'keep' of 0 without a number per key to choose by, but got 2}}
"test.op"() {test.a = #seq.window<window = 4, scale = 0.5 : f64, soft_cap = 0.0 : f64, sinks = false, slopes = false, key_score = none, keep = 2, heads_per_key = 1, heads_per_value = 1>} : () -> ()

// -----

// WIN2
// expected-error @+1 {{expects a finite 'scale' and a finite 'soft_cap' of at least 0, but got 5.000000e-01 : f64 and -1.000000e+00 : f64}}
"test.op"() {test.a = #seq.window<window = 4, scale = 0.5 : f64, soft_cap = -1.0 : f64, sinks = false, slopes = false, key_score = none, keep = 0, heads_per_key = 1, heads_per_value = 1>} : () -> ()

// -----

// WIN3
// expected-error @+1 {{expects 'heads_per_key' and 'heads_per_value' of at least 1, one a multiple of the other, but got 2 and 3}}
"test.op"() {test.a = #seq.window<window = 4, scale = 0.5 : f64, soft_cap = 0.0 : f64, sinks = false, slopes = false, key_score = none, keep = 0, heads_per_key = 2, heads_per_value = 3>} : () -> ()

// -----

// WIN4
// expected-error @+1 {{expects 'sink_tokens' of at least 0, and of 0 where 'window' is, but got 4 with a 'window' of 0}}
"test.op"() {test.a = #seq.window<window = 0, scale = 0.5 : f64, soft_cap = 0.0 : f64, sinks = false, slopes = false, key_score = none, keep = 0, heads_per_key = 1, heads_per_value = 1, sink_tokens = 4>} : () -> ()

// -----

// FORM1: no chunk
// expected-error @+1 {{expects 'chunk' of at least 1 for the form 'chunkwise', but got 0}}
"test.op"() {test.a = #seq.form<kind = chunkwise>} : () -> ()

// -----

// FORM1: a chunk of its own
// expected-error @+1 {{expects 'chunk' to be absent for the form 'step', but got 4}}
"test.op"() {test.a = #seq.form<kind = step, chunk = 4>} : () -> ()

// -----

// ENTRY1
// expected-error @+1 {{expects 'rows' of at least 1, but got 0}}
"test.op"() {test.a = #seq.entry<kind = decode, rows = 0>} : () -> ()

// -----

// STATE1
// expected-error @+1 {{expects a 'name' that is not empty, but got}}
"test.op"() {test.a = #seq.state<name = "", kind = tail, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 0>} : () -> ()

// -----

// STATE2
// expected-error @+1 {{expects 'type' with positive static dimensions, but got 'tensor<?x10xf32>'}}
"test.op"() {test.a = #seq.state<name = "a", kind = tail, growth = fixed, type = tensor<?x10xf32>, neutral = 0.0 : f32, offset = 0>} : () -> ()

// -----

// STATE3
// expected-error @+1 {{expects 'neutral' of the element type 'f32', but got 'f64'}}
"test.op"() {test.a = #seq.state<name = "a", kind = tail, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f64, offset = 0>} : () -> ()

// -----

// STATE4
// expected-error @+1 {{expects 'offset' of at least 0, but got -4}}
"test.op"() {test.a = #seq.state<name = "a", kind = tail, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = -4>} : () -> ()

// -----

// STATE5
// expected-error @+1 {{expects 'positions_per_row' of at least 0, but got -16}}
"test.op"() {test.a = #seq.state<name = "a", kind = sum, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 0, positions_per_row = -16>} : () -> ()

// -----

// STATE5
// expected-error @+1 {{expects 'positions_per_row' of states of growth 'fixed' alone, but got 16 of growth 'max_context'}}
"test.op"() {test.a = #seq.state<name = "a", kind = sum, growth = max_context, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 0, positions_per_row = 16>} : () -> ()

// -----

// LAYOUT1
// expected-error @+1 {{expects names that differ, but got two states 'a'}}
"test.op"() {test.a = #seq.state_layout<slot_bytes = 256, states = [#seq.state<name = "a", kind = tail, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 0>, #seq.state<name = "a", kind = tail, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 120>]>} : () -> ()

// -----

// LAYOUT2: 3 * 10 floats end at byte 120
// expected-error @+1 {{expects the state 'b' at an offset of at least 120, the end of the one before, but got 116}}
"test.op"() {test.a = #seq.state_layout<slot_bytes = 256, states = [#seq.state<name = "a", kind = tail, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 0>, #seq.state<name = "b", kind = tail, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 116>]>} : () -> ()

// -----

// LAYOUT3
// expected-error @+1 {{expects 'slot_bytes' of at least 240, the end of the last state, but got 236}}
"test.op"() {test.a = #seq.state_layout<slot_bytes = 236, states = [#seq.state<name = "a", kind = tail, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 0>, #seq.state<name = "b", kind = tail, growth = fixed, type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 120>]>} : () -> ()

// -----

// MODEL1
// expected-error @+1 {{expects a 'family' that is not empty, but got}}
"test.op"() {test.a = #seq.model<family = "", vocabulary = 1024, width = 192, max_context = 0>} : () -> ()

// -----

// MODEL2
// expected-error @+1 {{expects 'vocabulary' and 'width' of at least 1 and 'max_context' of at least 0, but got 1024, 0 and 0}}
"test.op"() {test.a = #seq.model<family = "a", vocabulary = 1024, width = 0, max_context = 0>} : () -> ()

// -----

// DECAYS1
// expected-error @+1 {{expects 'layer' from 0 to 23, but got 24}}
"test.op"() {test.a = #seq.head_decays<rule = powers, layer = 24, layers = 24>} : () -> ()

// -----

// DECAYS1
// expected-error @+1 {{expects 'layer' from 0 to 0, but got 2}}
"test.op"() {test.a = #seq.head_decays<rule = powers, layer = 2>} : () -> ()

// -----

// DECAYS1
// expected-error @+1 {{expects 'layer' from 0 to 23, but got -1}}
"test.op"() {test.a = #seq.head_decays<rule = powers, layer = -1, layers = 24>} : () -> ()

// -----

// DECAYS1
// expected-error @+1 {{expects 'layer' from -1 to 23, but got -2}}
"test.op"() {test.a = #seq.head_decays<rule = alibi, layer = -2, layers = 24>} : () -> ()

// -----

// DECAYS1
// expected-error @+1 {{expects 'layer' from 0 to 0, but got -1}}
"test.op"() {test.a = #seq.head_decays<rule = alibi, layer = -1>} : () -> ()

// -----

// DECAYS2
// expected-error @+1 {{expects no 'layers' for 'retention', but got 24}}
"test.op"() {test.a = #seq.head_decays<rule = retention, layers = 24>} : () -> ()

// -----

// DECAYS2
// expected-error @+1 {{expects 'layers' for 'linear'}}
"test.op"() {test.a = #seq.head_decays<rule = linear>} : () -> ()

// -----

// DECAYS3
// expected-error @+1 {{expects 'layers' of at least 2 for 'alibi', but got 1}}
"test.op"() {test.a = #seq.head_decays<rule = alibi, layers = 1>} : () -> ()

// -----

// FREQUENCIES1
// expected-error @+1 {{expects a finite 'theta' above 0, but got 0.000000e+00 : f64}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = default, theta = 0.0 : f64>} : () -> ()

// -----

// FREQUENCIES1
// expected-error @+1 {{expects a 'factor' for 'linear'}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = linear, theta = 1.0e4 : f64>} : () -> ()

// -----

// FREQUENCIES1
// expected-error @+1 {{expects no 'factor' for 'default'}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = default, theta = 1.0e4 : f64, factor = 2.0 : f64>} : () -> ()

// -----

// FREQUENCIES1
// expected-error @+1 {{expects a finite 'factor' of at least 1, but got 5.000000e-01 : f64}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = linear, theta = 1.0e4 : f64, factor = 0.5 : f64>} : () -> ()

// -----

// FREQUENCIES2
// expected-error @+1 {{expects 'original_context' of at least 1 for 'yarn', but got 0}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = yarn, theta = 1.0e4 : f64, factor = 2.0 : f64, low = 1.0 : f64, high = 32.0 : f64>} : () -> ()

// -----

// FREQUENCIES2
// expected-error @+1 {{expects 'planned_context' of at least 1 for 'dynamic', but got 0}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = dynamic, theta = 1.0e4 : f64, factor = 2.0 : f64, original_context = 64>} : () -> ()

// -----

// FREQUENCIES2: of one length after another
// expected-error @+1 {{expects no 'planned_context' for 'dynamic_steps', but got 4096}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = dynamic_steps, theta = 1.0e4 : f64, factor = 2.0 : f64, original_context = 64, planned_context = 4096>} : () -> ()

// -----

// FREQUENCIES2
// expected-error @+1 {{expects 'original_context' of at least 1 for 'longrope_steps', but got 0}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = longrope_steps, theta = 1.0e4 : f64, divisors = [1.0, 2.0]>} : () -> ()

// -----

// FREQUENCIES3
// expected-error @+1 {{expects 'low' and 'high' for 'llama3'}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = llama3, theta = 1.0e4 : f64, factor = 2.0 : f64, original_context = 64>} : () -> ()

// -----

// FREQUENCIES3
// expected-error @+1 {{expects no 'low' and 'high' for 'linear'}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = linear, theta = 1.0e4 : f64, factor = 2.0 : f64, low = 1.0 : f64>} : () -> ()

// -----

// FREQUENCIES3
// expected-error @+1 {{expects 'low' and 'high' above 0 that differ, but got 4.000000e+00 : f64 and 4.000000e+00 : f64}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = llama3, theta = 1.0e4 : f64, factor = 2.0 : f64, original_context = 64, low = 4.0 : f64, high = 4.0 : f64>} : () -> ()

// -----

// FREQUENCIES4
// expected-error @+1 {{expects 'divisors' for 'longrope'}}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = longrope, theta = 1.0e4 : f64>} : () -> ()

// -----

// FREQUENCIES4
// expected-error @+1 {{expects 'divisors' above 0, but got }}
"test.op"() {test.a = #seq.rotary_frequencies<scaling = longrope, theta = 1.0e4 : f64, divisors = [1.0, 0.0]>} : () -> ()

// -----

// TAP1
// expected-error @+1 {{expects a 'name' that is not empty, but got ""}}
"test.op"() {test.a = #seq.tap<name = "", shape = [3]>} : () -> ()

// -----

// TAP2
// expected-error @+1 {{expects dimensions of at least 1 in 'shape', but got 0}}
"test.op"() {test.a = #seq.tap<name = "a", shape = [3, 0]>} : () -> ()

// -----

// expected-error @+1 {{'seq.taps' expects an array of #seq.tap on 'builtin.module' beside 'seq.hidden_width'}}
module attributes {seq.taps = [#seq.tap<name = "a", shape = [3]>]} {}

// -----

// expected-error @+1 {{'seq.taps' expects an array of #seq.tap on 'builtin.module' beside 'seq.hidden_width'}}
module attributes {seq.hidden_width = 3 : i64, seq.taps = ["a"]} {}

// -----

// expected-error @+1 {{'seq.taps' expects values of 7 numbers together, which is 'seq.hidden_width', but got 6}}
module attributes {seq.hidden_width = 7 : i64, seq.taps = [#seq.tap<name = "a", shape = [3, 2]>]} {}

// -----

// WIN5
// expected-error @+1 {{expects 'block' of at least 0, and of 0 beside a 'window' or a 'keep', but got 4 with 8 and 0}}
"test.op"() {test.a = #seq.window<window = 8, scale = 0.5 : f64, soft_cap = 0.0 : f64, sinks = false, slopes = false, key_score = none, keep = 0, heads_per_key = 1, heads_per_value = 1, block = 4>} : () -> ()
