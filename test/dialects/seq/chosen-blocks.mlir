// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 6 heads, 2 of keys, 4 channels, 8 blocks of 16 positions, of which a token chooses 5.

// CHECK-LABEL: func.func @choose_blocks
func.func @choose_blocks(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %p: tensor<?xi32>, %sums: tensor<8x2x4xf32>)
    -> (tensor<?x2x5xi32>, tensor<8x2x4xf32>) {
  // CHECK: seq.choose_blocks %{{.*}}, %{{.*}} positions(%{{.*}}) state(%{{.*}}) {block = 16 : i64, first = 1 : i64, last = 2 : i64, scale = 5.000000e-01 : f64, score = #seq.block_score<share>}
  %chosen, %next = seq.choose_blocks %q, %k positions(%p) state(%sums)
      {block = 16 : i64, scale = 0.5 : f64, score = #seq.block_score<share>,
       first = 1 : i64, last = 2 : i64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<8x2x4xf32>)
        -> (tensor<?x2x5xi32>, tensor<8x2x4xf32>)
  return %chosen, %next : tensor<?x2x5xi32>, tensor<8x2x4xf32>
}

// Every head by itself, the token's own block and no other one for sure.
// CHECK-LABEL: func.func @choose_for_each_head
func.func @choose_for_each_head(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %p: tensor<7xi32>,
                                %sums: tensor<8x2x4xf32>) {
  // CHECK: seq.choose_blocks %{{.*}}, %{{.*}} positions(%{{.*}}) state(%{{.*}}) {block = 16 : i64, scale = 1.000000e+00 : f64, score = #seq.block_score<mean>}
  %chosen, %next = seq.choose_blocks %q, %k positions(%p) state(%sums)
      {block = 16 : i64, scale = 1.0 : f64, score = #seq.block_score<mean>}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7xi32>, tensor<8x2x4xf32>)
        -> (tensor<7x6x3xi32>, tensor<8x2x4xf32>)
  return
}

// CHECK-LABEL: func.func @block_mask
func.func @block_mask(%scores: tensor<6x7x5xf32>, %pk: tensor<5xi32>, %blocks: tensor<7x2x3xi32>) -> tensor<6x7x5xf32> {
  // CHECK: seq.block_mask %{{.*}} keys(%{{.*}}) chosen(%{{.*}}) {block = 4 : i64}
  %y = seq.block_mask %scores keys(%pk) chosen(%blocks) {block = 4 : i64}
      : tensor<6x7x5xf32>, tensor<5xi32>, tensor<7x2x3xi32>
  return %y : tensor<6x7x5xf32>
}
