// RUN: effc-opt %s --effc-phase-seq 2>/dev/null | FileCheck %s --check-prefix=SEQ
// RUN: effc-opt %s --effc-phase-seq --effc-phase-tile 2>/dev/null | FileCheck %s --check-prefix=TILE
// RUN: effc-opt %s --effc-phase-seq --effc-phase-tile --effc-phase-plan --effc-phase-binary 2>/dev/null | FileCheck %s --check-prefix=SIM
// RUN: sed 's/simulated = true, //; s/sim_90a/sm_90a/; s/cpu = "sm_90a",/& ptx = "compute_90a",/' %s \
// RUN:   | effc-opt --effc-phase-seq --effc-phase-tile --effc-phase-plan --effc-phase-binary 2>/dev/null | FileCheck %s --check-prefix=GPU
// RUN: sed 's/nvptx, simulated.*/host,/; /core = </d; s/code = "sim_90a", cpu = "sm_90a", //; s/255/16/; s/cores = 108, bandwidth = 1446, rereads = 1309/state_bytes = 131072/' %s \
// RUN:   | effc-opt --effc-phase-seq --effc-phase-tile 2>/dev/null | FileCheck %s --check-prefix=HOST

// What a phase does follows from the target that the module names: chosen tokens,
// schedules of blocks and the kind of the binary are those of a GPU, played or not.

// SEQ: seq.best
// TILE: tile.kernel @{{.*}} schedule(#tile.schedule<threads = {{[0-9]+}}, shared_bytes = {{[0-9]+}}>)
// SIM: plan.binary @{{.*}} isa "sim_90a"
// GPU: plan.binary @{{.*}} isa "sm_90a"
// HOST-NOT: seq.best
// HOST-NOT: tile.schedule
module attributes {
    seq.model = #seq.model<family = "toy", vocabulary = 11, width = 6, max_context = 0>,
    tile.target = #tile.target<nvptx, simulated = true, block = <threads = 256, shared_bytes = 232448>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        code = "sim_90a", cpu = "sm_90a", vector = 32,
        registers = 255, step_rate = 60, dot_rate = 600, cores = 108, bandwidth = 1446, rereads = 1309>} {
  seq.weight @table source("table") : tensor<11x6xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x11xf32> {
    %table = seq.parameter @table : tensor<11x6xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x6xf32>) -> tensor<?x6xf32>
    %last = seq.select_rows %x, %rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
    %logits = seq.lm_head %last, %table : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x11xf32>
    return %logits : tensor<?x11xf32>
  }
}
