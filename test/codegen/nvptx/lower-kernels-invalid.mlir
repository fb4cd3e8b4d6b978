// RUN: effc-opt %s --nvptx-lower-kernels --verify-diagnostics

// A kernel without barriers would be code that races.
// expected-error @+1 {{expects a kernel whose schedule is decided up to its barriers, but got one with decided places; run the passes of passes/tile before}}
tile.kernel @half_scheduled(%item) items(#tile.items<one, tile = 1, times = 1>) writes()
    schedule(#tile.schedule<decided = places, threads = 32, shared_bytes = 0>) {
}
