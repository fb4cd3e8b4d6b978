// RUN: effc-opt %s --seq-form-kernels > %t.kernels.mlir
// RUN: effc-opt %t.kernels.mlir --convert-seq-to-tile > %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: sed 's/#tile.target<nvptx,/& bit_stable = true,/' %t.kernels.mlir | not effc-opt --convert-seq-to-tile 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STABLE

// A product of a single row convolves 38 of its 83 outputs, those from 7 on. Items
// have 4 outputs of one kind: 2 items for the 7 before, 10 for the 38, and 10 for
// the 38 behind. Taps and tail are read before the product, in a loop that runs in
// the items from 2 to 11 alone; so do the stores of what is convolved and of the
// tail. All outputs are stored, since others are read.

module attributes {
    seq.state_layout = #seq.state_layout<slot_bytes = 512, states = [
      <name = "tail", kind = tail, growth = fixed, type = tensor<2x38xf32>, neutral = 0.0 : f32, offset = 0>]>,
    tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60,
                               dot_rate = 300, cores = 11, bandwidth = 140, rereads = 133>} {
seq.weight @table source("table") : tensor<11x1024xf32>
seq.weight @w source("w") : tensor<83x1024xf32>
seq.weight @w38 source("w38") : tensor<38x1024xf32>
seq.weight @taps source("taps") : tensor<3x38xf32>

// Kernels that were formed for another target.
// STABLE: error: 'seq.linear' op shares its kernel with what keeps a state, which only rows do that a GPU takes one by one, and whose bits need not be stable

// CHECK-LABEL: tile.kernel @linear_1(
// CHECK-SAME: %[[TAPS:[^:,]+]]: !tile.view<3x38xf32, {{[^>]*}}>, %[[TAIL:[^:,]+]]: !tile.view<?x2x38xf32, [128, 38, 1]>, %[[TABLE:[^:,]+]]: !tile.segments
// CHECK-SAME: items(#tile.items<rows, tile = 1, times = 22>)
// CHECK: %[[SLOT:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %[[BEGINS:.*]] = tile.segment %[[TABLE]]
// CHECK: %[[PAST:.*]]:5 = scf.for
// CHECK: %[[CHANNEL:.*]] = arith.subi
// CHECK-COUNT-3: tile.load %[[TAPS]][%{{.*}}, %[[CHANNEL]]] rows(%[[COUNT:.*]]) sizes [1, 4]
// CHECK: arith.select %[[BEGINS]]
// CHECK-COUNT-2: tile.load %[[TAIL]][%[[SLOT]], %{{.*}}, %[[CHANNEL]]] rows(%[[COUNT]]) sizes [1, 1, 4]
// CHECK: scf.for
// CHECK: %[[Y:.*]] = tile.reduce add
// CHECK: scf.for
// CHECK: tile.map(%[[PAST]]#0, %[[PAST]]#1, %[[PAST]]#2, %[[PAST]]#3, %[[PAST]]#4, %[[Y]])
// CHECK-COUNT-3: math.fma
// CHECK: tile.store %[[PAST]]#4, %[[TAIL]][%[[SLOT]], %c0{{.*}}] rows(%[[COUNT]]) sizes [1, 1, 4]
// CHECK: tile.store %[[Y]], %[[TAIL]][%[[SLOT]], %c1{{.*}}] rows(%[[COUNT]]) sizes [1, 1, 4]
// CHECK: tile.store {{.*}} rows(%[[COUNT]]) sizes [1, 4] : {{.*}}, <?x38xf32
// CHECK: tile.store %[[Y]], {{.*}} rows(%[[COUNT]]) sizes [1, 4] : {{.*}}, <?x83xf32
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %tail: tensor<2x38xf32> {seq.state_name = "tail"})
    -> (tensor<?x38xf32>, tensor<2x38xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x1024xf32>
  %w = seq.parameter @w : tensor<83x1024xf32>
  %taps = seq.parameter @taps : tensor<3x38xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x1024xf32>) -> tensor<?x1024xf32>
  %p = seq.linear %x, %w : (tensor<?x1024xf32>, tensor<83x1024xf32>) -> tensor<?x83xf32>
  %c = seq.slice %p {axis = 1 : i64, offset = 7 : i64, size = 38 : i64} : tensor<?x83xf32> -> tensor<?x38xf32>
  %y, %next = seq.short_convolution %c parameters(%taps) state(%tail)
      {activation = #seq.activation<none>} : tensor<?x38xf32>, (tensor<3x38xf32>), tensor<2x38xf32>
  %z = seq.slice %p {axis = 1 : i64, offset = 45 : i64, size = 38 : i64} : tensor<?x83xf32> -> tensor<?x38xf32>
  %s = seq.add %y, %z : tensor<?x38xf32>
  %out = seq.select_rows %s, %rows : (tensor<?x38xf32>, tensor<?xi32>) -> tensor<?x38xf32>
  return %out, %next : tensor<?x38xf32>, tensor<2x38xf32>
}

// Of two rows each is a sequence of its own, whose tail is read before the product: the
// second is the first again where the call has no other. What it gives is stored where
// it is there.
// CHECK-LABEL: tile.kernel @linear_4(
// CHECK-SAME: %[[TAIL:[^:,]+]]: !tile.view<?x2x38xf32, [128, 38, 1]>, %[[TABLE:[^:,]+]]: !tile.segments
// CHECK-SAME: items(#tile.items<rows, tile = 2, times =
// CHECK: %[[LAST:.*]] = arith.subi
// CHECK: tile.segment %[[TABLE]]
// CHECK: %[[ROW:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: tile.segment %[[TABLE]][%[[ROW]]]
// CHECK-COUNT-4: tile.load %[[TAIL]]
// CHECK: scf.for
// CHECK-COUNT-2: tile.reduce add
// CHECK: arith.cmpi slt
// CHECK: scf.for
// CHECK-COUNT-2: tile.store {{.*}}, %[[TAIL]]
// CHECK: arith.cmpi slt
// CHECK: scf.for
// CHECK-COUNT-2: tile.store {{.*}}, %[[TAIL]]
func.func @decode_2(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %tail: tensor<2x38xf32> {seq.state_name = "tail"})
    -> (tensor<?x38xf32>, tensor<2x38xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %table = seq.parameter @table : tensor<11x1024xf32>
  %w = seq.parameter @w38 : tensor<38x1024xf32>
  %taps = seq.parameter @taps : tensor<3x38xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x1024xf32>) -> tensor<?x1024xf32>
  %p = seq.linear %x, %w : (tensor<?x1024xf32>, tensor<38x1024xf32>) -> tensor<?x38xf32>
  %y, %next = seq.short_convolution %p parameters(%taps) state(%tail)
      {activation = #seq.activation<none>} : tensor<?x38xf32>, (tensor<3x38xf32>), tensor<2x38xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x38xf32>, tensor<?xi32>) -> tensor<?x38xf32>
  return %out, %next : tensor<?x38xf32>, tensor<2x38xf32>
}
}
