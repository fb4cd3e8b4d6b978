// RUN: effc-opt %s --seq-form-kernels --convert-seq-to-tile | FileCheck %s

// Entries share a kernel where their rows shape it alike, and nowhere else. On
// the host an item of a product passes over more than 4 rows a tile of 4 at a
// time, and asks for the weight to stay after the first; with 4 rows there is
// nothing to pass over. So 4 rows have a kernel of their own, though the tile is
// the same, 4 rows by 6 outputs; 8 and 16 rows share one.

// CHECK-LABEL: plan.entry @decode_4
// CHECK: plan.launch @[[FEW:linear_[0-9]+]](
// CHECK: tile.kernel @[[FEW]](
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-LABEL: plan.entry @decode_8
// CHECK: plan.launch @[[MANY:linear_[0-9]+]](
// CHECK: tile.kernel @[[MANY]](
// CHECK-COUNT-2: scf.for
// CHECK-LABEL: plan.entry @decode_16
// CHECK: plan.launch @[[MANY]](
// CHECK-NOT: tile.kernel
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x5xf32>
seq.weight @w source("w") : tensor<6x5xf32>
func.func @decode_4(%tokens: tensor<?xi32>) -> tensor<?x6xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 4>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  %w = seq.parameter @w : tensor<6x5xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  %y = seq.linear %x, %w : (tensor<?x5xf32>, tensor<6x5xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}
func.func @decode_8(%tokens: tensor<?xi32>) -> tensor<?x6xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 8>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  %w = seq.parameter @w : tensor<6x5xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  %y = seq.linear %x, %w : (tensor<?x5xf32>, tensor<6x5xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}
func.func @decode_16(%tokens: tensor<?xi32>) -> tensor<?x6xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 16>} {
  %table = seq.parameter @table : tensor<11x5xf32>
  %w = seq.parameter @w : tensor<6x5xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x5xf32>) -> tensor<?x5xf32>
  %y = seq.linear %x, %w : (tensor<?x5xf32>, tensor<6x5xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}
}
