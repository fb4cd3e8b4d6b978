// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 3 chosen experts of 2 units; a gated one has 4 of the 44 rows.

// CHECK-LABEL: func.func @expert_hidden
func.func @expert_hidden(%x: tensor<?x5xf32>, %w: tensor<?x3xf32>, %rows: tensor<?x3xi32>,
                         %table: tensor<44x5xbf16>) -> tensor<?x3x2xf32> {
  // CHECK: seq.expert_hidden %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {gated, nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<44x5xbf16>) -> tensor<?x3x2xf32>
  %h = seq.expert_hidden %x, %w, %rows, %table
      {gated, nonlinearity = #seq.nonlinearity<silu>}
      : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<44x5xbf16>)
        -> tensor<?x3x2xf32>
  return %h : tensor<?x3x2xf32>
}

// CHECK-LABEL: func.func @expert_hidden_weight_inside
func.func @expert_hidden_weight_inside(%x: tensor<7x5xf32>, %w: tensor<7x3xf32>,
                                       %rows: tensor<7x3xi32>, %table: tensor<11x5xf32>)
    -> tensor<7x3x1xf32> {
  // CHECK: seq.expert_hidden {{.*}} {nonlinearity = #seq.nonlinearity<gelu_tanh>, weight_inside}
  %h = seq.expert_hidden %x, %w, %rows, %table
      {nonlinearity = #seq.nonlinearity<gelu_tanh>, weight_inside}
      : (tensor<7x5xf32>, tensor<7x3xf32>, tensor<7x3xi32>, tensor<11x5xf32>)
        -> tensor<7x3x1xf32>
  return %h : tensor<7x3x1xf32>
}
