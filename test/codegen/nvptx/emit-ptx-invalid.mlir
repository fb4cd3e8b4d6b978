// RUN: effc-opt %s --nvptx-emit-ptx --split-input-file --verify-diagnostics

// No chip is assumed: PTX of another one would run, but not be what was asked for.
// expected-error @+2 {{expects a module whose 'tile.target' names a GPU and its chip ('cpu'), but got one without}}
// expected-note @+1 {{the compiler sets the attribute; a module that goes to a pass alone needs one of its own, as '#tile.target<nvptx, ..., cpu = "sm_80", ...>'}}
module {
}

// -----

// expected-error @+2 {{expects a module whose 'tile.target' names a GPU and its chip ('cpu'), but got #tile.target<nvptx, block}}
// expected-note @+1 {{the compiler sets the attribute}}
module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
}

// -----

// expected-error @+2 {{expects a module whose 'tile.target' names a GPU and its chip ('cpu'), but got #tile.target<host, cpu = "x86-64-v3"}}
// expected-note @+1 {{the compiler sets the attribute}}
module attributes {tile.target = #tile.target<host, cpu = "x86-64-v3", vector = 8, registers = 16,
    step_rate = 24, dot_rate = 28, state_bytes = 49152>} {
}
