// RUN: effc-opt %s --seq-split-retrieval | FileCheck %s

// Each content of a record as its phases; T may be dynamic. Heads lie one after
// another in the choices: 3 heads of 4 choose 12 rows.

// CHECK-LABEL: func.func @rows
func.func @rows(%scores: tensor<?x2x3x7xf32>, %values: tensor<49x5xbf16>) -> tensor<?x5xf32> {
  // CHECK: %[[W:.*]], %[[ROWS:.*]] = seq.choose_rows %{{.*}} {top_k = 4 : i64} : tensor<?x2x3x7xf32> -> tensor<?x12xf32>, tensor<?x12xi32>
  // CHECK: %[[Y:.*]] = seq.sum_rows %[[W]], %[[ROWS]], %{{.*}} : (tensor<?x12xf32>, tensor<?x12xi32>, tensor<49x5xbf16>) -> tensor<?x5xf32>
  // CHECK: return %[[Y]]
  %y = seq.product_key_memory %scores parameters(%values) {top_k = 4 : i64}
      : tensor<?x2x3x7xf32>, (tensor<49x5xbf16>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// CHECK-LABEL: func.func @neurons
// CHECK-SAME: %[[X:.*]]: tensor<?x5xf32>, %{{.*}}, %[[DOWN:.*]]: tensor<49x5xf32>, %[[UP:.*]]: tensor<49x5xf32>
func.func @neurons(%x: tensor<?x5xf32>, %scores: tensor<?x2x3x7xf32>,
                   %down: tensor<49x5xf32>, %up: tensor<49x5xf32>) -> tensor<?x5xf32> {
  // CHECK: %[[W:.*]], %[[ROWS:.*]] = seq.choose_rows {{.*}}weighting = #seq.weighting<score>
  // CHECK: %[[H:.*]] = seq.expert_hidden %[[X]], %[[W]], %[[ROWS]], %[[DOWN]] {nonlinearity = #seq.nonlinearity<silu>, weight_inside} {{.*}} -> tensor<?x12x1xf32>
  // CHECK: %[[FLAT:.*]] = seq.reshape %[[H]] : tensor<?x12x1xf32> -> tensor<?x12xf32>
  // CHECK: seq.sum_rows %[[FLAT]], %[[ROWS]], %[[UP]]
  %y = seq.product_key_experts %x, %scores parameters(%down, %up)
      {top_k = 4 : i64, nonlinearity = #seq.nonlinearity<silu>, weight_inside,
       weighting = #seq.weighting<score>}
      : (tensor<?x5xf32>, tensor<?x2x3x7xf32>), (tensor<49x5xf32>, tensor<49x5xf32>)
  return %y : tensor<?x5xf32>
}

// CHECK-LABEL: func.func @networks
func.func @networks(%x: tensor<?x5xf32>, %logits: tensor<?x7xf32>,
                    %gate_up: tensor<42x5xf32>, %down: tensor<35x3xf32>) -> tensor<?x5xf32> {
  // CHECK: %[[SCORES:.*]] = seq.reshape %{{.*}} : tensor<?x7xf32> -> tensor<?x1x1x7xf32>
  // CHECK: %[[W:.*]], %[[ROWS:.*]] = seq.choose_rows %[[SCORES]] {{.*}} -> tensor<?x2xf32>, tensor<?x2xi32>
  // CHECK: %[[H:.*]] = seq.expert_hidden {{.*}} {gated, nonlinearity = #seq.nonlinearity<silu>} {{.*}} -> tensor<?x2x3xf32>
  // CHECK: seq.expert_output %[[H]], %[[ROWS]], %{{.*}} : (tensor<?x2x3xf32>, tensor<?x2xi32>, tensor<35x3xf32>) -> tensor<?x5xf32>
  %y = seq.routed_experts %x, %logits parameters(%gate_up, %down)
      {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>}
      : (tensor<?x5xf32>, tensor<?x7xf32>), (tensor<42x5xf32>, tensor<35x3xf32>)
  return %y : tensor<?x5xf32>
}

// CHECK-LABEL: func.func @networks_in_order
func.func @networks_in_order(%x: tensor<?x5xf32>, %scores: tensor<?x7xf32>, %order: tensor<?x7xf32>,
                             %gate_up: tensor<42x5xf32>, %down: tensor<35x3xf32>) -> tensor<?x5xf32> {
  // CHECK: %[[SCORES:.*]] = seq.reshape %{{.*}} : tensor<?x7xf32> -> tensor<?x1x1x7xf32>
  // CHECK: %[[ORDER:.*]] = seq.reshape %{{.*}} : tensor<?x7xf32> -> tensor<?x1x1x7xf32>
  // CHECK: seq.choose_rows %[[SCORES]] order(%[[ORDER]] : tensor<?x1x1x7xf32>) {top_k = 2 : i64, weighting = #seq.weighting<share>}
  %y = seq.routed_experts %x, %scores order(%order : tensor<?x7xf32>) parameters(%gate_up, %down)
      {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>, weighting = #seq.weighting<share>}
      : (tensor<?x5xf32>, tensor<?x7xf32>), (tensor<42x5xf32>, tensor<35x3xf32>)
  return %y : tensor<?x5xf32>
}
