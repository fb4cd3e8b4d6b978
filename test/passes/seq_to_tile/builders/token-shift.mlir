// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// 3 heads of 160 channels are 6 blocks of 128, of which each head's last one has
// 32. The row before the first one is the state, 0 where a sequence begins; every
// other one is read where it lies, and the last one becomes the state.

module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 1920, states = [
    <name = "last", kind = shift, growth = fixed, type = tensor<3x160xf32>, neutral = 0.0 : f32, offset = 0>]>} {
seq.weight @table source("table") : tensor<11x480xf32>

// CHECK-LABEL: plan.entry @prefill_16
// CHECK: plan.launch @token_shift_1({{.*}}) items <segments, tile = 1, times = 6>

// CHECK-LABEL: tile.kernel @token_shift_1(
// CHECK-SAME: %{{[^:,]+}}, %[[X:[^:,]+]]: !tile.view<?x3x160xf32, [480, 160, 1]>, %[[LAST:[^:,]+]]: !tile.view<?x3x160xf32, [480, 160, 1]>
// CHECK: %[[SLOT:.*]], %[[FIRST:.*]], %[[LENGTH:.*]], %{{.*}}, %[[BEGINS:.*]] = tile.segment
// CHECK: arith.select %[[BEGINS]]
// CHECK: tile.load %[[LAST]][%[[SLOT]], {{.*}}] {{.*}}sizes [1, 1, 128]
// CHECK: tile.store %{{.*}}[%[[FIRST]], {{.*}}]
// CHECK: scf.for %[[T:.*]] = %c1{{.*}} to %[[LENGTH]]
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[T]]
// CHECK: %[[BEFORE:.*]] = arith.subi %[[ROW]], %c1
// CHECK: %[[TOKEN:.*]] = tile.load %[[X]][%[[BEFORE]], {{.*}}]
// CHECK: tile.store %[[TOKEN]], %{{.*}}[%[[ROW]], {{.*}}]
// CHECK: }
// CHECK: %[[END:.*]] = tile.load %[[X]]
// CHECK: tile.store %[[END]], %[[LAST]][%[[SLOT]], {{.*}}]
func.func @prefill_16(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %last: tensor<3x160xf32> {seq.state_name = "last"})
    -> (tensor<?x480xf32>, tensor<3x160xf32>) attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  %table = seq.parameter @table : tensor<11x480xf32>
  %x0 = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x480xf32>) -> tensor<?x480xf32>
  %x = seq.reshape %x0 : tensor<?x480xf32> -> tensor<?x3x160xf32>
  %y, %next = seq.token_shift %x state(%last) : tensor<?x3x160xf32>, tensor<3x160xf32>
  %y0 = seq.reshape %y : tensor<?x3x160xf32> -> tensor<?x480xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x480xf32>, tensor<?xi32>) -> tensor<?x480xf32>
  return %out, %next : tensor<?x480xf32>, tensor<3x160xf32>
}

// CHECK-LABEL: plan.entry @decode_1
// CHECK-LABEL: tile.kernel @token_shift_
// CHECK-NOT: scf.for
// CHECK: tile.store
// CHECK: tile.store
func.func @decode_1(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %last: tensor<3x160xf32> {seq.state_name = "last"})
    -> (tensor<?x480xf32>, tensor<3x160xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %table = seq.parameter @table : tensor<11x480xf32>
  %x0 = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x480xf32>) -> tensor<?x480xf32>
  %x = seq.reshape %x0 : tensor<?x480xf32> -> tensor<?x3x160xf32>
  %y, %next = seq.token_shift %x state(%last) : tensor<?x3x160xf32>, tensor<3x160xf32>
  %y0 = seq.reshape %y : tensor<?x3x160xf32> -> tensor<?x480xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x480xf32>, tensor<?xi32>) -> tensor<?x480xf32>
  return %out, %next : tensor<?x480xf32>, tensor<3x160xf32>
}
}
