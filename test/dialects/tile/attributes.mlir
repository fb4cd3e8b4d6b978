// RUN: effc-opt %s --allow-unregistered-dialect --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --allow-unregistered-dialect --mlir-print-op-generic | effc-opt --allow-unregistered-dialect | FileCheck %s

// Attributes and types on their own, each as its description shows it.

tile.kernel @loads_the_dialect(%item) items(#tile.items<rows, tile = 1, times = 1>) writes() {
}
// CHECK: test.items = #tile.items<rows, tile = 4, times = 24>
"test.op"() {test.items = #tile.items<rows, tile = 4, times = 24>} : () -> ()
// CHECK: test.target = #tile.target<host, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 49152>
"test.op"() {test.target = #tile.target<host, vector = 8, registers = 16, step_rate = 24,
    dot_rate = 28, state_bytes = 49152>} : () -> ()
// CHECK: test.target = #tile.target<nvptx, units = [#tile.wgmma, #tile.mma_sync], rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, vector = 32, registers = 255, step_rate = 60, dot_rate = 900, exact_dot_rate = 300, cores = 132, bandwidth = 1678, rereads = 1600>
"test.op"() {test.target = #tile.target<nvptx, units = [#tile.wgmma, #tile.mma_sync], rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60,
    dot_rate = 900, exact_dot_rate = 300, cores = 132, bandwidth = 1678, rereads = 1600>} : () -> ()
// CHECK: test.target = #tile.target<nvptx, bit_stable = true, simulated = true, overlaps = true, block = <threads = 256, shared_bytes = 232448>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, library = true, code = "sim_90a", cpu = "sm_90a", features = "+ptx80", vector = 32, registers = 255, step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>
"test.op"() {test.target = #tile.target<nvptx, bit_stable = true, simulated = true, overlaps = true, block = <threads = 256, shared_bytes = 232448>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    library = true, code = "sim_90a", cpu = "sm_90a", features = "+ptx80", vector = 32, registers = 255, step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()
// CHECK: test.target = #tile.target<host, code = "x86-64-v3", cpu = "x86-64-v3", further = [<code = "x86-64-v4", cpu = "x86-64-v4", vector = 16, registers = 32>, <code = "other", cpu = "x86-64-v4", features = "+avx512vnni", vector = 8, registers = 32>], vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 49152>
"test.op"() {test.target = #tile.target<host, code = "x86-64-v3", cpu = "x86-64-v3", further = [<code = "x86-64-v4", cpu = "x86-64-v4", vector = 16, registers = 32>,
    <code = "other", cpu = "x86-64-v4", features = "+avx512vnni", vector = 8, registers = 32>], vector = 8, registers = 16, step_rate = 24,
    dot_rate = 28, state_bytes = 49152>} : () -> ()
// CHECK: test.target = #tile.target<host, code = "a", cpu = "generic", features = "+dotprod", triple = "aarch64-unknown-linux-gnu", further = [<code = "b", cpu = "generic", triple = "aarch64-unknown-linux-gnu", vector = 8, registers = 16>], vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 49152>
"test.op"() {test.target = #tile.target<host, code = "a", cpu = "generic", features = "+dotprod", triple = "aarch64-unknown-linux-gnu",
    further = [<code = "b", cpu = "generic", triple = "aarch64-unknown-linux-gnu", vector = 8, registers = 16>], vector = 8, registers = 16, step_rate = 24,
    dot_rate = 28, state_bytes = 49152>} : () -> ()
// CHECK: test.target = #tile.target<host, byte_products = signed_matrices, bf16_products = true, further = [<code = "b", cpu = "b", byte_products = quads, bf16_products = true, vector = 8, registers = 16>], vector = 8,
"test.op"() {test.target = #tile.target<host, byte_products = signed_matrices, bf16_products = true,
    further = [<code = "b", cpu = "b", byte_products = quads, bf16_products = true, vector = 8, registers = 16>], vector = 8, registers = 16, step_rate = 24,
    dot_rate = 28, state_bytes = 49152>} : () -> ()
// CHECK: test.target = #tile.target<nvptx, block = {{.*}}, code = "sm_90a", cpu = "sm_90a", ptx = "compute_90a", own_chips = true, vector = 32,
"test.op"() {test.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 232448>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    code = "sm_90a", cpu = "sm_90a", ptx = "compute_90a", own_chips = true, vector = 32, registers = 255, step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()
// CHECK: test.target = #tile.target<host, optimised = false, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 49152>
"test.op"() {test.target = #tile.target<host, optimised = false, vector = 8, registers = 16, step_rate = 24,
    dot_rate = 28, state_bytes = 49152>} : () -> ()
// CHECK: test.isa = #tile.isa<code = "x86-64-v4", cpu = "x86-64-v4", vector = 16, registers = 32>
"test.op"() {test.isa = #tile.isa<code = "x86-64-v4", cpu = "x86-64-v4", vector = 16, registers = 32>} : () -> ()
// CHECK: test.core = [#tile.core<registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, #tile.core<registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 2>]
"test.op"() {test.core = [#tile.core<registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    #tile.core<registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 2>]} : () -> ()
// CHECK: test.schedule = #tile.schedule<threads = 128, shared_bytes = 1024>
"test.op"() {test.schedule = #tile.schedule<threads = 128, shared_bytes = 1024>} : () -> ()
// CHECK: test.schedule = [#tile.schedule<decided = threads, threads = 128>, #tile.schedule<decided = layouts, threads = 64>, #tile.schedule<decided = places, threads = 32, shared_bytes = 512>]
"test.op"() {test.schedule = [#tile.schedule<decided = threads, threads = 128>, #tile.schedule<decided = layouts, threads = 64>,
    #tile.schedule<decided = places, threads = 32, shared_bytes = 512>]} : () -> ()
// CHECK: test.box_map = #tile.box_map<operand = 1, rows = 768, columns = 192, pitch = 192, box_rows = 64, box_columns = 64, bf16>
"test.op"() {test.box_map = #tile.box_map<operand = 1, rows = 768, columns = 192, pitch = 192, box_rows = 64, box_columns = 64, bf16>} : () -> ()
// CHECK: test.layout = #tile.lin<threads = 128, lanes = 16, vector = 4>
"test.op"() {test.layout = #tile.lin<threads = 128, lanes = 16, vector = 4>} : () -> ()
// CHECK: test.layout = #tile.mma<threads = 128, row_warps = 2>
"test.op"() {test.layout = #tile.mma<threads = 128, row_warps = 2>} : () -> ()
// CHECK: test.layout = #tile.shared<threads = 128, offset = 0, stride = 68>
"test.op"() {test.layout = #tile.shared<threads = 128, offset = 0, stride = 68>} : () -> ()
// CHECK: test.layout = #tile.shared<threads = 128, offset = 16, stride = 68, slots = 3>
"test.op"() {test.layout = #tile.shared<threads = 128, offset = 16, stride = 68, slots = 3>} : () -> ()
// CHECK: test.layout = #tile.shared<threads = 128, swizzled = true, offset = 1024, stride = 64, slots = 3>
"test.op"() {test.layout = #tile.shared<threads = 128, swizzled = true, offset = 1024, stride = 64, slots = 3>} : () -> ()
// CHECK: test.layout = [#tile.shared<threads = 128, stride = 72, slots = 3>, #tile.shared<threads = 64, swizzled = true, stride = 64>]
"test.op"() {test.layout = [#tile.shared<threads = 128, stride = 72, slots = 3>, #tile.shared<threads = 64, swizzled = true, stride = 64>]} : () -> ()
// CHECK: test.types = [!tile.tile<4x64xf32, accumulator>, !tile.tile<64xf32, row>, !tile.tile<7xbf16, column>, !tile.tile<2x3xf16, staged, #tile.lin<threads = 32, lanes = 1, vector = 1>>]
"test.op"() {test.types = [!tile.tile<4x64xf32, accumulator>, !tile.tile<64xf32, row>,
    !tile.tile<7xbf16, column>, !tile.tile<2x3xf16, staged, #tile.lin<threads = 32, lanes = 1, vector = 1>>]} : () -> ()
// CHECK: test.types = [!tile.view<?x24x64xf32, [3352, 64, 1]>, !tile.view<5xi64, [1]>, !tile.segments]
"test.op"() {test.types = [!tile.view<?x24x64xf32, [3352, 64, 1]>, !tile.view<5xi64, [1]>, !tile.segments]} : () -> ()
