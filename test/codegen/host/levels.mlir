// RUN: effc-opt %s --host-split-levels | FileCheck %s --check-prefix=SPLIT
// RUN: effc-opt %s --pass-pipeline='builtin.module(host-split-levels,builtin.module(host-lower-kernels,canonicalize,cse))' | FileCheck %s --check-prefix=LOWER
// RUN: effc-opt %s --effc-phase-binary | FileCheck %s --check-prefix=BINARY
// RUN: effc-opt %s --effc-phase-binary | effc-opt --host-join-levels | FileCheck %s --check-prefix=BINARY

// Each level gets the kernels in a module of its own, whose target has that level
// alone; what is no kernel stays where it is.
// SPLIT: module attributes {tile.target = #tile.target<{{.*}} further = [<code = "x86-64-v4", cpu = "x86-64-v4", vector = 16, registers = 32>], vector = 8, {{.*}}>}
// SPLIT-NEXT: func.func private @other
// SPLIT: module @"x86-64-v3" attributes {tile.target = #tile.target<host, bit_stable = true, code = "x86-64-v3", cpu = "x86-64-v3", vector = 8, registers = 16, step_rate = 22, dot_rate = 18, state_bytes = 32768>}
// SPLIT-NEXT: tile.kernel @product
// SPLIT: tile.kernel @narrow
// SPLIT: module @"x86-64-v4" attributes {tile.target = #tile.target<host, bit_stable = true, code = "x86-64-v4", cpu = "x86-64-v4", vector = 16, registers = 32, step_rate = 22, dot_rate = 18, state_bytes = 32768>}
// SPLIT-NEXT: tile.kernel @product
// SPLIT: tile.kernel @narrow
// SPLIT-NOT: tile.kernel

// A product of 4 rows has 12 vectors of 8 partial sums where there are 16
// registers, and 24 of 16 where there are 32: of 3 and of 6 columns.
// LOWER: module @"x86-64-v3"
// LOWER: llvm.func @product
// LOWER: %{{[0-9]+}}:12 = scf.for {{.*}} -> (vector<8xf32>, {{.*}})
// LOWER: llvm.func @narrow
// 20 columns are a run of 16, two registers of 8, and 4 lanes of a third.
// LOWER: llvm.load {{.*}} -> vector<16xf32>
// LOWER: llvm.intr.masked.load {{.*}} -> vector<8xf32>
// LOWER: module @"x86-64-v4"
// LOWER: llvm.func @product
// LOWER: %{{[0-9]+}}:24 = scf.for {{.*}} -> (vector<16xf32>, {{.*}})
// LOWER: llvm.func @narrow
// Here they are one register of 16 and 4 lanes of a second.
// LOWER: llvm.load {{.*}} -> vector<16xf32>
// LOWER: llvm.intr.masked.load {{.*}} -> vector<16xf32>

// The code of each level is a binary that is called by it.
// BINARY-NOT: module @
// BINARY: func.func private @other
// BINARY: plan.binary @"x86-64-v3" isa "x86-64-v3" kernels ["product", "narrow"]
// BINARY: plan.binary @"x86-64-v4" isa "x86-64-v4" kernels ["product", "narrow"]
// BINARY-NOT: plan.binary
module attributes {tile.target = #tile.target<host, bit_stable = true, code = "x86-64-v3",
    cpu = "x86-64-v3", further = [<code = "x86-64-v4", cpu = "x86-64-v4", vector = 16, registers = 32>],
    vector = 8, registers = 16, step_rate = 22, dot_rate = 18, state_bytes = 32768>} {
func.func private @other()
tile.kernel @product(%item, %x: !tile.view<?x64xf32, [64, 1]>, %w: !tile.view<12x64xf32, [64, 1]>, %y: !tile.view<?x12xf32, [16, 1]>)
    items(#tile.items<rows, tile = 4, times = 1>) writes(2) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %row = arith.muli %item, %c4 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[%row, %c0] sizes [4, 64] : !tile.view<?x64xf32, [64, 1]> -> !tile.tile<4x64xf32, operand>
  %b = tile.load %w[%c0, %c0] sizes [12, 64] : !tile.view<12x64xf32, [64, 1]> -> !tile.tile<12x64xf32, operand>
  %none = tile.splat %zero : !tile.tile<4x12xf32, accumulator>
  %sum = tile.dot %none, %a, %b transpose_b : !tile.tile<4x12xf32, accumulator>, !tile.tile<4x64xf32, operand>, !tile.tile<12x64xf32, operand>
  tile.store %sum, %y[%row, %c0] sizes [4, 12] : !tile.tile<4x12xf32, accumulator>, !tile.view<?x12xf32, [16, 1]>
}
tile.kernel @narrow(%item, %x: !tile.view<?x20xf32, [32, 1]>, %y: !tile.view<?x20xf32, [32, 1]>)
    items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%item, %c0] sizes [1, 20] : !tile.view<?x20xf32, [32, 1]> -> !tile.tile<20xf32, row>
  tile.store %a, %y[%item, %c0] sizes [1, 20] : !tile.tile<20xf32, row>, !tile.view<?x20xf32, [32, 1]>
}
}
