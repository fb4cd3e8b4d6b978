// Chips are rows: blocks, cores, units and whether launches overlap. Of those that are
// not Hopper products are by mma.sync.

// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=tile --target sm_86 --products f32 | FileCheck %s --check-prefix=GA102
// GA102: #tile.target<nvptx, units = [#tile.mma_sync], block = <threads = 256, shared_bytes = 101376>, core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4, blocks = 16>, bundle = 512, code = "sm_86", cpu = "sm_86", features = "+ptx80",
// GA102-SAME: dot_rate = 150, {{.*}}cores = 84, bandwidth = 552, rereads = 1018>
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=tile --target sm_89 --products bf16 | FileCheck %s --check-prefix=AD102
// AD102: #tile.target<nvptx, units = [#tile.mma_sync], rounded_to = bf16, block = <threads = 256, shared_bytes = 101376>, core = {{.*}}schedulers = 4, blocks = 24>, bundle = 512, code = "sm_89",
// AD102-SAME: dot_rate = 450, {{.*}}cores = 128, bandwidth = 400, rereads = 1551>
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=tile --target sm_100 --products f32 | FileCheck %s --check-prefix=B200
// B200: #tile.target<nvptx, units = [#tile.mma_sync], overlaps = true, block = <threads = 256, shared_bytes = 232448>, core = {{.*}}>, bundle = 512, code = "sm_100", cpu = "sm_100", features = "+ptx86",
// B200-SAME: cores = 148, bandwidth = 4070, rereads = 1793>
// RUN: effc-compile %goldens/mamba2/f32_plain --compile-to=tile --target sm_120 --products f32 | FileCheck %s --check-prefix=GB202
// GB202: #tile.target<nvptx, units = [#tile.mma_sync], overlaps = true, block = <threads = 256, shared_bytes = 101376>, core = {{.*}}schedulers = 4, blocks = 24>, bundle = 512, code = "sm_120", cpu = "sm_120", features = "+ptx87",
// GB202-SAME: cores = 170, bandwidth = 744, rereads = 2060>
