// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-form-kernels --convert-seq-to-tile --verify-diagnostics=only-expected | FileCheck %s
// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile 2>/dev/null | FileCheck %s --check-prefix=STABLE

// 6 heads in 2 groups for 132 cores: a window of 150 keys lies in up to 4 pieces of 64
// positions (149 keys before the own one, in 3 pieces or parts of two more), each of
// which is an item of a group. Between both launches 1 x 6 x 4 rows of 12 values, a
// maximum and a sum are kept, of 16 f32: 1536 bytes. The second launch merges them, an
// item for each head, and one item more writes the token into the ring, which begins
// anew after 192 rows. Where bits are to be stable there are no pieces.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 36864, states = [
    <name = "keys", kind = window, growth = window, type = tensor<192x2x10xf32>, neutral = 0.0 : f32, offset = 0>,
    <name = "values", kind = window, growth = window, type = tensor<192x2x12xf32>, neutral = 0.0 : f32, offset = 15360>]>,
    tile.target = #tile.target<nvptx, bit_stable = true, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 600, cores = 132, bandwidth = 1678, rereads = 1600>} {
seq.weight @table source("table") : tensor<11x104xf32>
seq.weight @sinks source("sinks") : tensor<6xf32>

// CHECK-LABEL: plan.entry @decode_1
// CHECK: %[[PLACES:.*]] = plan.arena bytes 1536
// CHECK: plan.launch @[[MIX:attention_[0-9]+]]({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 8>
// CHECK: plan.launch @[[MIX]]_merge({{.*}}%[[PLACES]]{{.*}}) items <segments, tile = 1, times = 7>

// CHECK: tile.kernel @[[MIX]](
// CHECK: %[[PART:.*]] = arith.divui %{{.*}}, %c2
// CHECK: %[[SLOT:[^,]+]], %{{.*}}, %{{.*}}, %[[START:[^,]+]], %{{.*}} = tile.segment
// CHECK: arith.subi %[[START]], %c149
// CHECK: %[[COUNT:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[THERE:.*]] = arith.cmpi slt, %[[PART]], %[[COUNT]]
// CHECK: %[[ONCE:.*]] = arith.select %[[THERE]], %c1
// CHECK: scf.for {{.*}} to %[[ONCE]]
// CHECK: tile.load {{.*}} sizes [1, 3, 10]
// Pieces in the ring, then the one of the token itself by the item whose turn it is.
// CHECK: %[[NEWEST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: scf.for %[[PLACE:.*]] = %[[PART]] to %[[NEWEST]] step %c4
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.load %{{.*}}[%[[SLOT]], {{.*}}] sizes [1, 32, 1, 10]
// CHECK-NOT: tile.splice
// CHECK: tile.store {{.*}}%[[PLACE]], %c0{{.*}}] sizes [1, 3, 1, 12]
// CHECK: tile.store {{.*}}%[[PLACE]], %c12{{.*}}] sizes [1, 3, 1, 1]
// CHECK: tile.store {{.*}}%[[PLACE]], %c13{{.*}}] sizes [1, 3, 1, 1]
// CHECK: %[[TURN:.*]] = arith.remui %[[NEWEST]], %c4
// CHECK: arith.cmpi eq, %[[PART]], %[[TURN]]
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-2: tile.splice
// CHECK: tile.store {{.*}}%[[NEWEST]], %c0{{.*}}] sizes [1, 3, 1, 12]

// CHECK: tile.kernel @[[MIX]]_merge(
// CHECK: arith.cmpi eq, %[[HEAD:.*]], %c6
// CHECK: tile.store {{.*}} sizes [1, 1, 2, 10]
// CHECK: tile.store {{.*}} sizes [1, 1, 2, 12]
// CHECK: arith.cmpi slt, %[[HEAD]], %c6
// CHECK: %[[SINK:.*]] = tile.read {{.*}}[%[[HEAD]]]
// All 4 places are read before the first is added.
// CHECK: scf.for {{.*}} step %c4{{.*}} iter_args(%{{[^ ]+}} = %[[SINK]], %{{[^ ]+}} = %cst{{[^,]*}}, %
// CHECK-COUNT-4: tile.load {{.*}} sizes [1, 1, 1, 12]
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: tile.map
// CHECK: math.fma
// CHECK: arith.divf
// CHECK: tile.store {{.*}} sizes [1, 1, 12]

// Of 600 sequences there are items enough: one has all pieces of a group, and merges
// them.
// CHECK-LABEL: plan.entry @decode_600
// CHECK-NOT: plan.arena bytes 921600
// CHECK: plan.launch @[[ALL:attention_[0-9]+]]({{.*}}) items <segments, tile = 1, times = 2>
// CHECK: plan.launch @[[ALL]]_append(

// CHECK: tile.kernel @[[ALL]](
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.fma
// CHECK-COUNT-2: tile.splice
// CHECK: arith.divf
// CHECK: tile.store {{.*}} sizes [1, 3, 12]

// STABLE: plan.launch @[[MIX:attention_[0-9]+]]({{.*}}) items <segments, tile = 1, times = 2>
// STABLE: plan.launch @[[MIX]]_append(
func.func @decode_1(%q: tensor<?xi32>, %rows: tensor<?xi32>, %p: tensor<?xi32>,
                    %keys: tensor<192x2x10xf32> {seq.state_name = "keys"},
                    %values: tensor<192x2x12xf32> {seq.state_name = "values"})
    -> (tensor<?x6x12xf32>, tensor<192x2x10xf32>, tensor<192x2x12xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x104xf32>
  %sinks = seq.parameter @sinks : tensor<6xf32>
  %in = seq.embedding %q, %table : (tensor<?xi32>, tensor<11x104xf32>) -> tensor<?x104xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 60 : i64} : tensor<?x104xf32> -> tensor<?x60xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 60 : i64, size = 20 : i64} : tensor<?x104xf32> -> tensor<?x20xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 80 : i64, size = 24 : i64} : tensor<?x104xf32> -> tensor<?x24xf32>
  %q1 = seq.reshape %q0 : tensor<?x60xf32> -> tensor<?x6x10xf32>
  %k = seq.reshape %k0 : tensor<?x20xf32> -> tensor<?x2x10xf32>
  %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  // expected-remark @+1 {{keys of a decode step in pieces of 64: 2 groups of heads leave most of 132 cores idle}}
  %y, %next_k, %next_v = seq.attention %q1, %k, %v positions(%p) sinks(%sinks) states(%keys, %values)
      {window = 150 : i64, scale = 0.5 : f64, form = #seq.form<kind = step>}
      : (tensor<?x6x10xf32>, tensor<?x2x10xf32>, tensor<?x2x12xf32>, tensor<?xi32>, tensor<6xf32>, tensor<192x2x10xf32>, tensor<192x2x12xf32>)
        -> (tensor<?x6x12xf32>, tensor<192x2x10xf32>, tensor<192x2x12xf32>)
  return %y, %next_k, %next_v : tensor<?x6x12xf32>, tensor<192x2x10xf32>, tensor<192x2x12xf32>
}
func.func @decode_600(%q: tensor<?xi32>, %rows: tensor<?xi32>, %p: tensor<?xi32>,
                    %keys: tensor<192x2x10xf32> {seq.state_name = "keys"},
                    %values: tensor<192x2x12xf32> {seq.state_name = "values"})
    -> (tensor<?x6x12xf32>, tensor<192x2x10xf32>, tensor<192x2x12xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 600>} {
  %table = seq.parameter @table : tensor<11x104xf32>
  %sinks = seq.parameter @sinks : tensor<6xf32>
  %in = seq.embedding %q, %table : (tensor<?xi32>, tensor<11x104xf32>) -> tensor<?x104xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 60 : i64} : tensor<?x104xf32> -> tensor<?x60xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 60 : i64, size = 20 : i64} : tensor<?x104xf32> -> tensor<?x20xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 80 : i64, size = 24 : i64} : tensor<?x104xf32> -> tensor<?x24xf32>
  %q1 = seq.reshape %q0 : tensor<?x60xf32> -> tensor<?x6x10xf32>
  %k = seq.reshape %k0 : tensor<?x20xf32> -> tensor<?x2x10xf32>
  %v = seq.reshape %v0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  // expected-remark @+1 {{keys of a decode step in pieces of 64: 2 groups of heads leave most of 132 cores idle}}
  %y, %next_k, %next_v = seq.attention %q1, %k, %v positions(%p) sinks(%sinks) states(%keys, %values)
      {window = 150 : i64, scale = 0.5 : f64, form = #seq.form<kind = step>}
      : (tensor<?x6x10xf32>, tensor<?x2x10xf32>, tensor<?x2x12xf32>, tensor<?xi32>, tensor<6xf32>, tensor<192x2x10xf32>, tensor<192x2x12xf32>)
        -> (tensor<?x6x12xf32>, tensor<192x2x10xf32>, tensor<192x2x12xf32>)
  return %y, %next_k, %next_v : tensor<?x6x12xf32>, tensor<192x2x10xf32>, tensor<192x2x12xf32>
}
}
