// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 2 of 7 experts of 3 hidden units, 5 channels: 2 3 7 = 42 and 5 7 = 35 rows.

// CHECK-LABEL: func.func @routed_experts
func.func @routed_experts(%x: tensor<?x5xf32>, %logits: tensor<?x7xf32>,
                          %gate_up: tensor<42x5xbf16>, %down: tensor<35x3xbf16>) -> tensor<?x5xf32> {
  // CHECK: seq.routed_experts %{{.*}}, %{{.*}} parameters(%{{.*}}, %{{.*}}) {nonlinearity = #seq.nonlinearity<silu>, top_k = 2 : i64} : (tensor<?x5xf32>, tensor<?x7xf32>), (tensor<42x5xbf16>, tensor<35x3xbf16>)
  %y = seq.routed_experts %x, %logits parameters(%gate_up, %down)
      {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>}
      : (tensor<?x5xf32>, tensor<?x7xf32>),
        (tensor<42x5xbf16>, tensor<35x3xbf16>)
  return %y : tensor<?x5xf32>
}

// CHECK-LABEL: func.func @routed_experts_in_order
func.func @routed_experts_in_order(%x: tensor<?x5xf32>, %scores: tensor<?x7xf32>, %order: tensor<?x7xf32>,
                                   %gate_up: tensor<42x5xbf16>, %down: tensor<35x3xbf16>) -> tensor<?x5xf32> {
  // CHECK: seq.routed_experts %{{.*}}, %{{.*}} order(%{{.*}} : tensor<?x7xf32>) parameters(%{{.*}}, %{{.*}}) {{{.*}}weighting = #seq.weighting<share>}
  %y = seq.routed_experts %x, %scores order(%order : tensor<?x7xf32>) parameters(%gate_up, %down)
      {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>, weighting = #seq.weighting<share>}
      : (tensor<?x5xf32>, tensor<?x7xf32>),
        (tensor<42x5xbf16>, tensor<35x3xbf16>)
  return %y : tensor<?x5xf32>
}
