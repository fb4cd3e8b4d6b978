// RUN: effc-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Each attribute or type breaks the constraint it is labelled with.

// items1: no rows in a tile
// expected-error @+1 {{expects 'tile' and 'times' of at least 1, but got 0 and 2}}
"test.op"() {test.a = #tile.items<rows, tile = 0, times = 2>} : () -> ()

// -----

// items1: no items
// expected-error @+1 {{expects 'tile' and 'times' of at least 1, but got 2 and 0}}
"test.op"() {test.a = #tile.items<rows, tile = 2, times = 0>} : () -> ()

// -----

// schedule1: part of a warp
// expected-error @+1 {{expects 'threads' to be a multiple of 32 in 32..1024, but got 48}}
"test.op"() {test.a = #tile.schedule<threads = 48, shared_bytes = 0>} : () -> ()

// -----

// schedule1: more than a block holds
// expected-error @+1 {{expects 'threads' to be a multiple of 32 in 32..1024, but got 1056}}
"test.op"() {test.a = #tile.schedule<threads = 1056, shared_bytes = 0>} : () -> ()

// -----

// schedule2
// expected-error @+1 {{expects 'shared_bytes' of at least 0, but got -4}}
"test.op"() {test.a = #tile.schedule<threads = 32, shared_bytes = -4>} : () -> ()

// -----

// schedule3: bytes of what has no place yet
// expected-error @+1 {{expects 'shared_bytes' of decided places alone, but got a schedule with 'decided' layouts}}
"test.op"() {test.a = #tile.schedule<decided = layouts, threads = 32, shared_bytes = 64>} : () -> ()

// -----

// schedule3: places without bytes
// expected-error @+1 {{expects 'shared_bytes' where places are decided, but got a schedule with 'decided' places}}
"test.op"() {test.a = #tile.schedule<decided = places, threads = 32>} : () -> ()

// -----

// schedule3: a whole schedule
// expected-error @+1 {{expects 'shared_bytes' where places are decided, but got a schedule with 'decided' barriers}}
"test.op"() {test.a = #tile.schedule<threads = 32>} : () -> ()

// -----

// tile_lin1
// expected-error @+1 {{expects 'threads', 'lanes' and 'vector' to be powers of two, but got 32, 0 and 1}}
"test.op"() {test.a = #tile.lin<threads = 32, lanes = 0, vector = 1>} : () -> ()

// -----

// tile_lin1: not a power of two
// expected-error @+1 {{expects 'threads', 'lanes' and 'vector' to be powers of two, but got 32, 4 and 3}}
"test.op"() {test.a = #tile.lin<threads = 32, lanes = 4, vector = 3>} : () -> ()

// -----

// tile_lin2
// expected-error @+1 {{expects 'threads' to be a multiple of 'lanes', but got 32 and 64}}
"test.op"() {test.a = #tile.lin<threads = 32, lanes = 64, vector = 1>} : () -> ()

// -----

// mma1: three groups of warps
// expected-error @+1 {{expects 'threads' to be a power of two of at least 32, and 'row_warps' to divide their warps, but got 128 and 3}}
"test.op"() {test.a = #tile.mma<threads = 128, row_warps = 3>} : () -> ()

// -----

// shared2: not where the pattern begins
// expected-error @+1 {{expects the 'offset' of swizzled rows to be a multiple of 1024 and their 'stride' to be 64, but got 512 and 64}}
"test.op"() {test.a = #tile.shared<threads = 128, swizzled = true, offset = 512, stride = 64>} : () -> ()

// -----

// shared2: longer rows
// expected-error @+1 {{expects the 'offset' of swizzled rows to be a multiple of 1024 and their 'stride' to be 64, but got 0 and 72}}
"test.op"() {test.a = #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 72>} : () -> ()

// -----

// shared1
// expected-error @+1 {{expects 'offset' to be a multiple of 16, at least 0, and positive 'stride' and 'slots', but got 8, 4 and 1}}
"test.op"() {test.a = #tile.shared<threads = 32, offset = 8, stride = 4>} : () -> ()

// -----

// tile4
// expected-error @+1 {{expects a layout #tile.lin, #tile.mma or #tile.shared, but got 7 : i64}}
"test.op"() {test.a = !tile.tile<4x6xf32, operand, 7>} : () -> ()

// -----

// tile1: a row with two dimensions
// expected-error @+1 {{expects a tile with role 'row' to have 1 dimensions, but got 2}}
"test.op"() {test.a = !tile.tile<4x6xf32, row>} : () -> ()

// -----

// tile1: an operand with one
// expected-error @+1 {{expects a tile with role 'operand' to have 2 dimensions, but got 1}}
"test.op"() {test.a = !tile.tile<6xf32, operand>} : () -> ()

// -----

// tile2
// expected-error @+1 {{expects positive tile dimensions, but got 0}}
"test.op"() {test.a = !tile.tile<4x0xf32, operand>} : () -> ()

// -----

// tile3
// expected-error @+1 {{expects a tile of f32, bf16, f16 or i32, but got 'i64'}}
"test.op"() {test.a = !tile.tile<4x6xi64, operand>} : () -> ()

// -----

// a role that does not exist
// expected-error @+1 {{expects a role (operand, accumulator, row, column, staged), but got 'diagonal'}}
"test.op"() {test.a = !tile.tile<4x6xf32, diagonal>} : () -> ()

// -----

// view1: two dimensions, one stride
// expected-error @+1 {{expects one stride for each of a view's dimensions, but got 1 for 2}}
"test.op"() {test.a = !tile.view<?x6xf32, [1]>} : () -> ()

// -----

// view1: no dimension
// expected-error @+1 {{expects one stride for each of a view's dimensions, but got 0 for 0}}
"test.op"() {test.a = !tile.view<f32, []>} : () -> ()

// -----

// view2: a dynamic dimension after the first
// expected-error @+1 {{expects a view's dimensions past the first to be static and positive, but got dimension 1 = -9223372036854775808}}
"test.op"() {test.a = !tile.view<6x?xf32, [8, 1]>} : () -> ()

// -----

// view2: an empty one
// expected-error @+1 {{expects a view's dimensions past the first to be static and positive, but got dimension 1 = 0}}
"test.op"() {test.a = !tile.view<?x0xf32, [8, 1]>} : () -> ()

// -----

// view3
// expected-error @+1 {{expects a view of f32, bf16, f16, i32, i64 or blocks of codes, but got 'f64'}}
"test.op"() {test.a = !tile.view<?x6xf64, [8, 1]>} : () -> ()

// -----

// boxmap1: no columns
// expected-error @+1 {{expects numbers of at least 1 and a box of at most 256 rows of 128 bytes of floating-point numbers, but got 768 x 0 and a box of 64 x 64 'bf16'}}
"test.op"() {test.a = #tile.box_map<operand = 1, rows = 768, columns = 0, pitch = 192, box_rows = 64, box_columns = 64, bf16>} : () -> ()

// -----

// boxmap1: wider than what is swizzled together
// expected-error @+1 {{expects numbers of at least 1 and a box of at most 256 rows of 128 bytes of floating-point numbers, but got 768 x 192 and a box of 64 x 64 'f32'}}
"test.op"() {test.a = #tile.box_map<operand = 1, rows = 768, columns = 192, pitch = 192, box_rows = 64, box_columns = 64, f32>} : () -> ()

// -----

// target1
// expected-error @+1 {{expects 'rounded_to' to be bf16, f16 or tf32, but got 'f64'}}
"test.op"() {test.a = #tile.target<nvptx, rounded_to = f64, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// target2: a block is a GPU's
// expected-error @+1 {{expects 'block', 'core', 'simulated', 'units', 'overlaps' and 'library' of a GPU alone, but got a target of the host with one of them}}
"test.op"() {test.a = #tile.target<host, block = <threads = 64, shared_bytes = 128>, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 4096>} : () -> ()

// -----

// target2: so is a launch that begins while another ends
// expected-error @+1 {{expects 'block', 'core', 'simulated', 'units', 'overlaps' and 'library' of a GPU alone, but got a target of the host with one of them}}
"test.op"() {test.a = #tile.target<host, overlaps = true, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 4096>} : () -> ()

// -----

// target2: so are product units
// expected-error @+1 {{expects 'block', 'core', 'simulated', 'units', 'overlaps' and 'library' of a GPU alone, but got a target of the host with one of them}}
"test.op"() {test.a = #tile.target<host, units = [#tile.mma_sync], vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 4096>} : () -> ()

// -----

// target4
// expected-error @+1 {{expects product units in 'units', but got #tile.lin<threads = 64, lanes = 4, vector = 2>}}
"test.op"() {test.a = #tile.target<nvptx, units = [#tile.mma_sync, #tile.lin<threads = 64, lanes = 4, vector = 2>], vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// target3: levels are the host's
// expected-error @+1 {{expects 'further' of the host alone, but got a GPU's target with it}}
"test.op"() {test.a = #tile.target<nvptx, further = [<code = "a", cpu = "a", vector = 16, registers = 32>], vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// target3: a level twice
// expected-error @+1 {{expects levels of different 'code', but got "x86-64-v3" twice}}
"test.op"() {test.a = #tile.target<host, code = "x86-64-v3", further = [<code = "x86-64-v3", cpu = "x86-64-v3", vector = 16, registers = 32>], vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 4096>} : () -> ()

// -----

// target5: digits are the host's
// expected-error @+1 {{expects up to 3 'digits' of the host alone, but got 2}}
"test.op"() {test.a = #tile.target<nvptx, digits = 2, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// target5: more than fit a word
// expected-error @+1 {{expects up to 3 'digits' of the host alone, but got 4}}
"test.op"() {test.a = #tile.target<host, digits = 4, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 4096>} : () -> ()

// -----

// target6: a GPU's code is no architecture's of the host
// expected-error @+1 {{expects 'triple' of the host alone, but got a GPU's target with "aarch64-unknown-linux-gnu"}}
"test.op"() {test.a = #tile.target<nvptx, triple = "aarch64-unknown-linux-gnu", vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// target7: a GPU's code is always optimised
// expected-error @+1 {{expects 'optimised = false' of the host alone, but got a GPU's target with it}}
"test.op"() {test.a = #tile.target<nvptx, optimised = false, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// target8: a rate of products that stay exact where all do
// expected-error @+1 {{expects 'exact_dot_rate' of a target that rounds alone, but got 300}}
"test.op"() {test.a = #tile.target<nvptx, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, exact_dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// isa1: lanes that halves do not fold to one
// expected-error @+1 {{expects 'vector' to be a power of two, but got 12}}
"test.op"() {test.a = #tile.isa<code = "a", cpu = "a", vector = 12, registers = 32>} : () -> ()

// -----

// isa1: too few for a register block
// expected-error @+1 {{expects 'registers' of at least 8, but got 7}}
"test.op"() {test.a = #tile.isa<code = "a", cpu = "a", vector = 16, registers = 7>} : () -> ()

// -----

// block1
// expected-error @+1 {{expects 'threads' to be a multiple of 32 in 32..1024, but got 40}}
"test.op"() {test.a = #tile.block<threads = 40, shared_bytes = 0>} : () -> ()

// -----

// block2
// expected-error @+1 {{expects 'shared_bytes' of at least 0, but got -1}}
"test.op"() {test.a = #tile.block<threads = 64, shared_bytes = -1>} : () -> ()

// -----

// core1
// expected-error @+1 {{expects 'registers' of at least 1, but got 0}}
"test.op"() {test.a = #tile.core<registers = 0, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>} : () -> ()

// -----

// core1: a core that takes no block
// expected-error @+1 {{expects 'blocks' of at least 1, but got 0}}
"test.op"() {test.a = #tile.core<registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4, blocks = 0>} : () -> ()

// -----

// core2
// expected-error @+1 {{expects cycles of at least 0, but got -33}}
"test.op"() {test.a = #tile.core<registers = 65536, memory = 500, barrier = 50, product = -33, launch = 2500, schedulers = 4>} : () -> ()

// -----

// target9: what a block may have
// expected-error @+1 {{expects 'block', 'core', 'cores', 'bandwidth' and 'rereads' of a GPU, but got a target without 'block'}}
"test.op"() {test.a = #tile.target<nvptx, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// target9: what a core has
// expected-error @+1 {{expects 'block', 'core', 'cores', 'bandwidth' and 'rereads' of a GPU, but got a target without 'core'}}
"test.op"() {test.a = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// core3: warps are dealt to schedulers by halves
// expected-error @+1 {{expects 'schedulers' to be a power of two, but got 3}}
"test.op"() {test.a = #tile.core<registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 3>} : () -> ()

// -----

// target10: a GPU's text
// expected-error @+1 {{expects 'byte_products' and 'bf16_products' of the host alone, and 'ptx' and 'own_chips' of a GPU alone, but got a target of the other with one of them}}
"test.op"() {test.a = #tile.target<host, ptx = "compute_80", vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 4096>} : () -> ()

// -----

// target10: what a level of the host multiplies
// expected-error @+1 {{expects 'byte_products' and 'bf16_products' of the host alone, and 'ptx' and 'own_chips' of a GPU alone, but got a target of the other with one of them}}
"test.op"() {test.a = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, bf16_products = true, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// target9: how many cores
// expected-error @+1 {{expects 'block', 'core', 'cores', 'bandwidth' and 'rereads' of a GPU, but got a target without 'cores'}}
"test.op"() {test.a = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 0, bandwidth = 1446, rereads = 1309>} : () -> ()

// -----

// target9: what a GPU's memory moves
// expected-error @+1 {{expects 'block', 'core', 'cores', 'bandwidth' and 'rereads' of a GPU, but got a target without 'bandwidth'}}
"test.op"() {test.a = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 0, rereads = 1309>} : () -> ()

// -----

// target9: what its second cache gives
// expected-error @+1 {{expects 'block', 'core', 'cores', 'bandwidth' and 'rereads' of a GPU, but got a target without 'rereads'}}
"test.op"() {test.a = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 0>} : () -> ()

// -----

// target9: the host's memory is not described
// expected-error @+1 {{expects 'bandwidth' of a GPU alone, but got the host's target with 140}}
"test.op"() {test.a = #tile.target<host, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, cores = 2, bandwidth = 140, rereads = 24>} : () -> ()

// -----

// target11: what its blocks hold is said by 'block'
// expected-error @+1 {{expects 'state_bytes' of the host alone, but got a GPU's target with 4096}}
"test.op"() {test.a = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>, vector = 32, registers = 255, step_rate = 60, dot_rate = 300, state_bytes = 4096>} : () -> ()

// -----

// target11
// expected-error @+1 {{expects 'state_bytes' of at least 1 of the host, but got -1}}
"test.op"() {test.a = #tile.target<host, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = -1>} : () -> ()

// -----

// target12
// expected-error @+1 {{expects 'bundle' of at least 0 elements, of a GPU alone, but got 512}}
"test.op"() {test.a = #tile.target<host, bundle = 512, vector = 8, registers = 16, step_rate = 24, dot_rate = 28, state_bytes = 4096>} : () -> ()
