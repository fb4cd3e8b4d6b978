// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-form-kernels --convert-seq-to-tile > %t.mlir 2> /dev/null
// RUN: FileCheck %s --input-file %t.mlir
// RUN: sed 's/bit_stable = true, //' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile --tile-join-launches 2> %t.remarks \
// RUN:   | FileCheck %s --check-prefix=JOINED
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/bit_stable = true, //; s/cores = 132/cores = 4/' %s \
// RUN:   | effc-opt --seq-form-kernels --convert-seq-to-tile | FileCheck %s --check-prefix=WHOLE

// Of 72 outputs of 70 rows an item has 64 of 64: four tiles leave most of 132 cores idle,
// and each passes over 2,560 terms in 40 steps. So items share a tile's terms; 20 parts of
// two steps are the most. A further launch takes as long as 4 steps, so that all of them
// are worth it. It adds a row's parts up in their order, and does what follows the
// product. Where bits are to be stable a row's sums are those of any other call, and where
// four cores have a tile each nothing is shared.
module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 132, bandwidth = 1678, rereads = 1600>} {
seq.weight @table source("table") : tensor<11x2560xf32>
seq.weight @other source("other") : tensor<11x72xf32>
seq.weight @w source("w") : tensor<72x2560xbf16>
seq.weight @v source("v") : tensor<4096x2560xbf16>
seq.weight @w2 source("w2") : tensor<72x2560xbf16>
seq.weight @b source("b") : tensor<72x4096xbf16>
seq.weight @bias source("bias") : tensor<72xf32>

// 70 rows of 20 parts of 80 f32, the least multiple of 64 bytes.
// CHECK-LABEL: plan.entry @decode_70
// CHECK: %[[SUMS:.*]] = plan.arena bytes 448000
// CHECK: plan.launch @linear_{{[0-9]+}}({{.*}}%[[SUMS]])
// CHECK: plan.launch @linear_{{[0-9]+}}_sum(%[[SUMS]],

// CHECK-LABEL: tile.kernel @linear_{{[0-9]+}}(
// CHECK-SAME: %[[ITEM:[^:,]+]]
// CHECK-SAME: items(#tile.items<rows, tile = 64, times = 40>)
// CHECK: %[[REST:.*]] = arith.remui %[[ITEM]], %c40
// CHECK: %[[PART:.*]] = arith.divui %[[REST]], %c2
// CHECK: %[[START:.*]] = arith.muli %[[PART]], %c128
// CHECK: tile.pipeline stages 3 extent 128 step 64
// CHECK: %[[AT:.*]] = arith.addi %[[START]],
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[AT]]] rows(%{{.*}}) sizes [64, 64]
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[AT]]] rows(%{{.*}}) sizes [64, 64]
// CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %[[PART]], %{{.*}}] rows(%{{.*}}) columns(%{{.*}}) sizes [64, 1, 64]
// CHECK-SAME: <?x20x80xf32, [1600, 80, 1]>

// CHECK-LABEL: tile.kernel @linear_{{[0-9]+}}_sum(
// CHECK-SAME: %[[ROW:[^:,]+]]
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 1>)
// CHECK-COUNT-20: sizes [1, 1, 72]
// CHECK: tile.load {{.*}} sizes [72]
// CHECK: tile.load {{.*}} sizes [1, 72]
// CHECK: tile.store {{.*}} sizes [1, 72]

// WHOLE-LABEL: plan.entry @decode_70
// WHOLE-NOT: _sum
func.func @decode_70(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x72xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 70>} {
  %table = seq.parameter @table : tensor<11x2560xf32>
  %other = seq.parameter @other : tensor<11x72xf32>
  %w = seq.parameter @w : tensor<72x2560xbf16>
  %bias = seq.parameter @bias : tensor<72xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x2560xf32>) -> tensor<?x2560xf32>
  %r = seq.embedding %tokens, %other : (tensor<?xi32>, tensor<11x72xf32>) -> tensor<?x72xf32>
  %p = seq.linear %x, %w bias(%bias) : (tensor<?x2560xf32>, tensor<72x2560xbf16>, tensor<72xf32>) -> tensor<?x72xf32>
  %y = seq.add %p, %r : tensor<?x72xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x72xf32>, tensor<?xi32>) -> tensor<?x72xf32>
  return %out : tensor<?x72xf32>
}

// Beside 4,096 outputs of the same rows, whose launch JoinLaunches makes one with this,
// all 132 cores have a tile of 64 outputs of one or the other.
// CHECK-LABEL: plan.entry @decode_71
// CHECK-NOT: _sum{{.*}} note "first"
// JOINED-LABEL: plan.entry @decode_71
// JOINED: note "first+many"
func.func @decode_71(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x72xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 71>} {
  %table = seq.parameter @table : tensor<11x2560xf32>
  %w = seq.parameter @w : tensor<72x2560xbf16>
  %v = seq.parameter @v : tensor<4096x2560xbf16>
  %b = seq.parameter @b : tensor<72x4096xbf16>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x2560xf32>) -> tensor<?x2560xf32>
  %p = seq.linear %x, %w : (tensor<?x2560xf32>, tensor<72x2560xbf16>) -> tensor<?x72xf32> loc("first")
  %q = seq.linear %x, %v : (tensor<?x2560xf32>, tensor<4096x2560xbf16>) -> tensor<?x4096xf32> loc("many")
  %o = seq.linear %q, %b : (tensor<?x4096xf32>, tensor<72x4096xbf16>) -> tensor<?x72xf32> loc("back")
  %y = seq.add %o, %p : tensor<?x72xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x72xf32>, tensor<?xi32>) -> tensor<?x72xf32>
  return %out : tensor<?x72xf32>
}

// What is added to the second product is of the first, so that it cannot stand there. Only
// its sum waits: the launch before it joins the others.
// CHECK-LABEL: plan.entry @decode_72
// CHECK: _sum
// JOINED-LABEL: plan.entry @decode_72
// JOINED: note "first+many+second"
// JOINED: _sum
func.func @decode_72(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x72xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 72>} {
  %table = seq.parameter @table : tensor<11x2560xf32>
  %w = seq.parameter @w : tensor<72x2560xbf16>
  %w2 = seq.parameter @w2 : tensor<72x2560xbf16>
  %v = seq.parameter @v : tensor<4096x2560xbf16>
  %b = seq.parameter @b : tensor<72x4096xbf16>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x2560xf32>) -> tensor<?x2560xf32>
  %p = seq.linear %x, %w : (tensor<?x2560xf32>, tensor<72x2560xbf16>) -> tensor<?x72xf32> loc("first")
  %p2 = seq.linear %x, %w2 : (tensor<?x2560xf32>, tensor<72x2560xbf16>) -> tensor<?x72xf32> loc("second")
  %both = seq.add %p2, %p : tensor<?x72xf32>
  %q = seq.linear %x, %v : (tensor<?x2560xf32>, tensor<4096x2560xbf16>) -> tensor<?x4096xf32> loc("many")
  %o = seq.linear %q, %b : (tensor<?x4096xf32>, tensor<72x4096xbf16>) -> tensor<?x72xf32> loc("back")
  %y = seq.add %both, %o : tensor<?x72xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x72xf32>, tensor<?xi32>) -> tensor<?x72xf32>
  return %out : tensor<?x72xf32>
}

// Results that a concatenation joins lie in one tensor, and launches that write the same
// memory are not joined. There is a remark for each product whose terms are shared: one of
// 70 rows, one of 71, two of 72 and this.
// CHECK-LABEL: plan.entry @decode_73
// CHECK: _sum
// JOINED-LABEL: plan.entry @decode_73
// JOINED-NOT: _joined
// REMARK-COUNT-5: items share the terms of a tile of 64 x
// REMARK-NOT: share the terms
func.func @decode_73(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x4168xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 73>} {
  %table = seq.parameter @table : tensor<11x2560xf32>
  %w = seq.parameter @w : tensor<72x2560xbf16>
  %v = seq.parameter @v : tensor<4096x2560xbf16>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x2560xf32>) -> tensor<?x2560xf32>
  %p = seq.linear %x, %w : (tensor<?x2560xf32>, tensor<72x2560xbf16>) -> tensor<?x72xf32> loc("first")
  %q = seq.linear %x, %v : (tensor<?x2560xf32>, tensor<4096x2560xbf16>) -> tensor<?x4096xf32> loc("many")
  %y = seq.concat %p, %q {axis = 1 : i64} : (tensor<?x72xf32>, tensor<?x4096xf32>) -> tensor<?x4168xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x4168xf32>, tensor<?xi32>) -> tensor<?x4168xf32>
  return %out : tensor<?x4168xf32>
}
}
