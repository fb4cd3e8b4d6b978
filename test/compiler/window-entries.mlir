// RUN: effc compile %S/../e2e/models/window.mlir --weights none --target sm_80 --prefill-rows 16,64,256 --compile-to tile -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: effc compile %S/../e2e/models/window.mlir --weights none --prefill-rows 16,64,256 --compile-to tile -o %t.host.mlir
// RUN: FileCheck %s --check-prefix=HOST --input-file %t.host.mlir

// On a GPU an entry's rows say how many queries a block has, 16 or 64 with 6 heads, and
// how many items share a head's blocks: each entry has a kernel of its own.
// CHECK: plan.entry @prefill_16
// CHECK: plan.launch @[[SHORT:attention_[0-9]+]]({{.*}} items <segments, tile = 1, times = 6>
// CHECK: tile.kernel @[[SHORT]](
// CHECK: tile.load {{.*}} sizes [16, 1, 8]
// CHECK: plan.entry @prefill_64
// CHECK: plan.launch @[[MIDDLE:attention_[0-9]+]]({{.*}} items <segments, tile = 1, times = 6>
// CHECK: tile.kernel @[[MIDDLE]](
// CHECK: tile.load {{.*}} sizes [64, 1, 8]
// CHECK: plan.entry @prefill_256
// CHECK: plan.launch @[[LONG:attention_[0-9]+]]({{.*}} items <segments, tile = 1, times = 24>
// CHECK: tile.kernel @[[LONG]](
// CHECK: tile.load {{.*}} sizes [64, 1, 8]

// The host's items are as many for all.
// HOST: plan.entry @prefill_16
// HOST: plan.launch @[[MIX:attention_[0-9]+]](
// HOST: plan.entry @prefill_64
// HOST: plan.launch @[[MIX]](
// HOST: plan.entry @prefill_256
// HOST: plan.launch @[[MIX]](
