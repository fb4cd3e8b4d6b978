// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function or module breaks the constraint of the dialect it is labelled with.

// SEQ1: another attribute under the name.
// expected-error @+1 {{'seq.model' expects an attribute #seq.model, but got "mamba2"}}
module attributes {seq.model = "mamba2"} {}

// -----

// SEQ1: not on a module.
// expected-error @+1 {{'seq.state_layout' expects to be on 'builtin.module', but got 'func.func'}}
func.func private @seq1() attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>}

// -----

// expected-error @+1 {{'seq.entry' expects an attribute #seq.entry, but got 16}}
func.func private @seq2_a_number() attributes {seq.entry = 16 : i64}

// -----

// SEQ2: not on a function.
// expected-error @+1 {{'seq.entry' expects to be on a function, but got 'builtin.module'}}
module attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {}

// -----

// expected-error @+1 {{'seq.state_name' expects a non-empty string on a function's argument, but got ""}}
func.func private @seq3_no_name(tensor<6xf32> {seq.state_name = ""}) -> tensor<6xf32>

// -----

// expected-error @+1 {{argument #0 with the state "a" expects a static f32 tensor, but got 'tensor<?xf32>'}}
func.func private @seq3_dynamic(tensor<?xf32> {seq.state_name = "a"}) -> tensor<?xf32>

// -----

// expected-error @+1 {{arguments #0 and #1 both carry the state "a"}}
func.func private @seq3_twice(tensor<6xf32> {seq.state_name = "a"}, tensor<6xf32> {seq.state_name = "a"})
    -> (tensor<6xf32>, tensor<6xf32>)

// -----

// expected-error @+1 {{expects a result for each of its 2 states, but got 1 results}}
func.func private @seq4_too_few(tensor<6xf32> {seq.state_name = "a"}, tensor<7xf32> {seq.state_name = "b"})
    -> tensor<6xf32>

// -----

// expected-error @+1 {{expects result #1 of type 'tensor<6xf32>', but got 'tensor<7xf32>': it is the next value of the state "a"}}
func.func private @seq4_other_order(tensor<6xf32> {seq.state_name = "a"}, tensor<7xf32> {seq.state_name = "b"})
    -> (tensor<2xf32>, tensor<7xf32>, tensor<6xf32>)

// -----

// SEQ5: on an op.
// expected-error @+1 {{'seq.state_bytes' is no attribute of the dialect 'seq'}}
module attributes {seq.state_bytes = 4 : i64} {}

// -----

// SEQ5: on an argument.
// expected-error @+1 {{'seq.state' is no argument attribute of the dialect 'seq'}}
func.func private @seq5(tensor<6xf32> {seq.state = "a"})
