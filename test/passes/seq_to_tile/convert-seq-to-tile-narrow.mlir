// RUN: effc-opt %s --convert-seq-to-tile | FileCheck %s

// A result that is narrow is a buffer of bf16: a row of 40 of them is padded to 64,
// so that 4 rows take 4 * 128 = 512 bytes, where f32 take 4 * 48 * 4 = 768. The slice
// from 32 on begins 32 * 2 = 64 bytes further on. The same body with a result of f32
// is another kernel.

// CHECK-LABEL: plan.entry @prefill_4
// CHECK: %[[NARROW:.*]] = plan.arena bytes 512
// CHECK: plan.launch @elementwise_1(%{{.*}}, %[[NARROW]])
// CHECK: %[[WIDE:.*]] = plan.arena bytes 768
// CHECK: plan.launch @elementwise_2(%{{.*}}, %[[WIDE]])
// CHECK: %[[SLICE:.*]] = plan.offset %[[NARROW]] by 64
// CHECK: plan.launch @linear_3(%[[SLICE]],
// CHECK: %[[WIDE_SLICE:.*]] = plan.offset %[[WIDE]] by 128
// CHECK: plan.launch @linear_4(%[[WIDE_SLICE]],
// CHECK-LABEL: tile.kernel @elementwise_1(
// CHECK: tile.store {{.*}} : <40xf32, row>, <?x40xbf16, [64, 1]>
// CHECK-LABEL: tile.kernel @elementwise_2(
// CHECK: tile.store {{.*}} : <40xf32, row>, <?x40xf32, [48, 1]>
// CHECK-LABEL: tile.kernel @linear_3(
// CHECK: tile.load {{.*}} : <?x8xbf16, [64, 1]> -> <4x8xf32, operand>
// CHECK-LABEL: tile.kernel @linear_4(
// CHECK: tile.load {{.*}} : <?x8xf32, [48, 1]> -> <4x8xf32, operand>
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>} {
seq.weight @table source("table") : tensor<11x40xf32>
seq.weight @w source("w") : tensor<24x8xbf16>
func.func @prefill_4(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> (tensor<?x24xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 4>} {
  %table = seq.parameter @table : tensor<11x40xf32>
  %w = seq.parameter @w : tensor<24x8xbf16>
  %x = seq.kernel "embedding" (%i = %tokens : tensor<?xi32>, %t = %table : tensor<11x40xf32>)
      -> (tensor<?x40xf32>) attributes {root = 0 : i64} {
    %e = seq.embedding %i, %t : (tensor<?xi32>, tensor<11x40xf32>) -> tensor<?x40xf32>
    seq.yield %e : tensor<?x40xf32>
  }
  %n = seq.kernel "narrow" (%a = %x : tensor<?x40xf32>) -> (tensor<?x40xf32>)
      attributes {narrow = array<i64: 0>, narrow_to = bf16} {
    %e = seq.tanh %a : tensor<?x40xf32>
    seq.yield %e : tensor<?x40xf32>
  }
  %m = seq.kernel "wide" (%a = %x : tensor<?x40xf32>) -> (tensor<?x40xf32>) {
    %e = seq.tanh %a : tensor<?x40xf32>
    seq.yield %e : tensor<?x40xf32>
  }
  %y = seq.kernel "reads narrow" (%a = %n : tensor<?x40xf32>, %b = %w : tensor<24x8xbf16>)
      -> (tensor<?x24xf32>) attributes {root = 1 : i64} {
    %s = seq.slice %a {axis = 1 : i64, offset = 32 : i64, size = 8 : i64} : tensor<?x40xf32> -> tensor<?x8xf32>
    %p = seq.linear %s, %b : (tensor<?x8xf32>, tensor<24x8xbf16>) -> tensor<?x24xf32>
    seq.yield %p : tensor<?x24xf32>
  }
  %z = seq.kernel "reads wide" (%a = %m : tensor<?x40xf32>, %b = %w : tensor<24x8xbf16>)
      -> (tensor<?x24xf32>) attributes {root = 1 : i64} {
    %s = seq.slice %a {axis = 1 : i64, offset = 32 : i64, size = 8 : i64} : tensor<?x40xf32> -> tensor<?x8xf32>
    %p = seq.linear %s, %b : (tensor<?x8xf32>, tensor<24x8xbf16>) -> tensor<?x24xf32>
    seq.yield %p : tensor<?x24xf32>
  }
  %sum = seq.kernel "sum" (%a = %y : tensor<?x24xf32>, %b = %z : tensor<?x24xf32>)
      -> (tensor<?x24xf32>) {
    %s = seq.add %a, %b : tensor<?x24xf32>
    seq.yield %s : tensor<?x24xf32>
  }
  %out = seq.kernel "rows" (%a = %sum : tensor<?x24xf32>, %r = %rows : tensor<?xi32>)
      -> (tensor<?x24xf32>) attributes {root = 0 : i64} {
    %o = seq.select_rows %a, %r : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    seq.yield %o : tensor<?x24xf32>
  }
  return %out : tensor<?x24xf32>
}
}
