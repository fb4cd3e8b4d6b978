// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// 6 heads, 2 of keys and values, 4 key and 5 value channels, 8 blocks of 16 positions.

// CHECK-LABEL: func.func @mix_block_means
func.func @mix_block_means(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x5xf32>, %p: tensor<?xi32>,
                           %key_sums: tensor<8x2x4xf32>, %value_sums: tensor<8x2x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>) {
  // CHECK: seq.mix_block_means %{{.*}}, %{{.*}}, %{{.*}} positions(%{{.*}}) states(%{{.*}}, %{{.*}}) {block = 16 : i64, scale = 5.000000e-01 : f64}
  %y, %next_k, %next_v = seq.mix_block_means %q, %k, %v positions(%p)
      states(%key_sums, %value_sums) {block = 16 : i64, scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>, tensor<?xi32>,
         tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  return %y, %next_k, %next_v : tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>
}
