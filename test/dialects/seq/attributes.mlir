// RUN: effc-opt %s --allow-unregistered-dialect --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --allow-unregistered-dialect --mlir-print-op-generic | effc-opt --allow-unregistered-dialect | FileCheck %s

// The attributes on their own, each as its description shows it.

// CHECK: test.linear = #seq.linear<decay = head, field = real, input_gate = value, low_rank = none, read = after_write, bonus = false, feed_through = true, normaliser = none, stabiliser = none, heads_per_group = 3>
"test.op"() {test.linear =
    #seq.linear<decay = head, field = real, input_gate = value,
                low_rank = none, read = after_write, bonus = false,
                feed_through = true, normaliser = none, stabiliser = none,
                heads_per_group = 3>} : () -> ()
// CHECK: test.linear = #seq.linear<{{.*}}heads_per_group = 3, writes = 2>
"test.op"() {test.linear =
    #seq.linear<decay = none, field = real, input_gate = none,
                low_rank = decayed_state, read = after_write, bonus = false,
                feed_through = false, normaliser = none, stabiliser = none,
                heads_per_group = 3, writes = 2>} : () -> ()
// CHECK: test.structure = #seq.structure<class = opaque>
"test.op"() {test.structure = #seq.structure<class = opaque>} : () -> ()
// CHECK: test.structure = #seq.structure<class = linear, linear = <decay = key_and_value, field = complex, {{.*}}>>
"test.op"() {test.structure =
    #seq.structure<class = linear, linear =
      <decay = key_and_value, field = complex, input_gate = key_and_value,
       low_rank = undecayed_state, read = before_write, bonus = true,
       feed_through = false, normaliser = key_sum, stabiliser = max_plus,
       heads_per_group = 1>>} : () -> ()
// CHECK: test.retrieval = #seq.retrieval<axes = 2, heads = 3, top_k = 4, weighting = softmax, content = neuron, nonlinearity = silu, weight_inside = false>
"test.op"() {test.retrieval =
    #seq.retrieval<axes = 2, heads = 3, top_k = 4, weighting = softmax,
                   content = neuron, nonlinearity = silu,
                   weight_inside = false>} : () -> ()
// CHECK: test.structure = #seq.structure<class = retrieval, retrieval = <axes = 1, heads = 1, top_k = 2, weighting = softmax_all, content = network, nonlinearity = gelu, weight_inside = false>>
"test.op"() {test.structure =
    #seq.structure<class = retrieval, retrieval =
      <axes = 1, heads = 1, top_k = 2, weighting = softmax_all,
       content = network, nonlinearity = gelu, weight_inside = false>>} : () -> ()
// CHECK: test.window = #seq.window<window = 4, scale = 1.250000e-01 : f64, soft_cap = 0.000000e+00 : f64, sinks = false, slopes = false, key_score = none, keep = 0, heads_per_key = 3, heads_per_value = 3>
"test.op"() {test.window =
    #seq.window<window = 4, scale = 0.125 : f64, soft_cap = 0.0 : f64,
                sinks = false, slopes = false, key_score = none, keep = 0,
                heads_per_key = 3, heads_per_value = 3>} : () -> ()
// CHECK: test.window = #seq.window<window = 9, {{.*}} heads_per_value = 1, sink_tokens = 4>
"test.op"() {test.window =
    #seq.window<window = 9, scale = 0.125 : f64, soft_cap = 0.0 : f64,
                sinks = false, slopes = false, key_score = none, keep = 0,
                heads_per_key = 1, heads_per_value = 1, sink_tokens = 4>} : () -> ()
// CHECK: test.window = #seq.window<window = 0, {{.*}} heads_per_value = 1, block = 16>
"test.op"() {test.window =
    #seq.window<window = 0, scale = 0.125 : f64, soft_cap = 0.0 : f64,
                sinks = false, slopes = false, key_score = none, keep = 0,
                heads_per_key = 1, heads_per_value = 1, block = 16>} : () -> ()
// CHECK: test.structure = #seq.structure<class = window, window = <window = 0, {{.*}}>>
"test.op"() {test.structure =
    #seq.structure<class = window, window =
      <window = 0, scale = 0.125 : f64, soft_cap = 30.0 : f64, sinks = true,
       slopes = true, key_score = threshold, keep = 5, heads_per_key = 6,
       heads_per_value = 1>>} : () -> ()
// CHECK: test.frequencies = #seq.rotary_frequencies<scaling = llama3, theta = 5.000000e+05 : f64, factor = 8.000000e+00 : f64, original_context = 8192, low = 1.000000e+00 : f64, high = 4.000000e+00 : f64>
"test.op"() {test.frequencies =
    #seq.rotary_frequencies<scaling = llama3, theta = 5.0e5 : f64, factor = 8.0 : f64,
                            original_context = 8192, low = 1.0 : f64, high = 4.0 : f64>} : () -> ()
// CHECK: test.decays = #seq.head_decays<rule = alibi, layer = 3, layers = 24>
"test.op"() {test.decays = #seq.head_decays<rule = alibi, layer = 3, layers = 24>} : () -> ()
// CHECK: test.decays = #seq.head_decays<rule = alibi, layer = -1, layers = 24>
"test.op"() {test.decays = #seq.head_decays<rule = alibi, layer = -1, layers = 24>} : () -> ()
// CHECK: test.slopes = #seq.head_decays<rule = alibi, negated = true>
"test.op"() {test.slopes = #seq.head_decays<rule = alibi, negated = true>} : () -> ()
// CHECK: test.form = #seq.form<kind = chunkwise, chunk = 64>
"test.op"() {test.form = #seq.form<kind = chunkwise, chunk = 64>} : () -> ()
// CHECK: test.form = #seq.form<kind = quadratic>
"test.op"() {test.form = #seq.form<kind = quadratic>} : () -> ()
// CHECK: test.entry = #seq.entry<kind = prefill, rows = 64>
"test.op"() {test.entry = #seq.entry<kind = prefill, rows = 64>} : () -> ()
// CHECK: test.state = #seq.state<name = "layers.0.conv", kind = tail, growth = fixed, type = tensor<3x1792xf32>, neutral = 0.000000e+00 : f32, offset = 256>
"test.op"() {test.state =
    #seq.state<name = "layers.0.conv", kind = tail, growth = fixed,
               type = tensor<3x1792xf32>, neutral = 0.0 : f32, offset = 256>
    } : () -> ()
// CHECK: test.state = #seq.state<name = "layers.0.block_sums", kind = sum, growth = fixed, type = tensor<7x2x4xf32>, neutral = 0.000000e+00 : f32, offset = 0, positions_per_row = 16>
"test.op"() {test.state =
    #seq.state<name = "layers.0.block_sums", kind = sum, growth = fixed,
               type = tensor<7x2x4xf32>, neutral = 0.0 : f32, offset = 0,
               positions_per_row = 16>
    } : () -> ()
// CHECK: test.layout = #seq.state_layout<slot_bytes = 512, states = [<name = "layers.0.conv", {{.*}}>, <name = "layers.0.ssd", {{.*}}>]>
"test.op"() {test.layout =
    #seq.state_layout<slot_bytes = 512, states = [
      #seq.state<name = "layers.0.conv", kind = tail, growth = fixed,
                 type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 0>,
      #seq.state<name = "layers.0.ssd", kind = matrix, growth = fixed,
                 type = tensor<2x3x5xf32>, neutral = 0.0 : f32, offset = 128>]>
    } : () -> ()
// CHECK: test.layout = #seq.state_layout<slot_bytes = 0, states = []>
"test.op"() {test.layout = #seq.state_layout<slot_bytes = 0, states = []>} : () -> ()
// CHECK: test.model = #seq.model<family = "mamba2", vocabulary = 1024, width = 192, max_context = 0>
"test.op"() {test.model =
    #seq.model<family = "mamba2", vocabulary = 1024, width = 192, max_context = 0>
    } : () -> ()
// CHECK: test.tap = #seq.tap<name = "layers.0.mixer:dt", shape = [4, 3]>
"test.op"() {test.tap = #seq.tap<name = "layers.0.mixer:dt", shape = [4, 3]>} : () -> ()
