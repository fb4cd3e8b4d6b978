// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @causal_mix
func.func @causal_mix(%x: tensor<?x6xf32>, %p: tensor<?xi32>, %w: tensor<12x12xf32>,
                      %b: tensor<12xf32>, %inputs: tensor<32x6xf32>)
    -> (tensor<?x6xf32>, tensor<32x6xf32>) {
  // CHECK: seq.causal_mix %{{.*}} positions(%{{.*}}) parameters(%{{.*}}, %{{.*}}) state(%{{.*}})
  %y, %next = seq.causal_mix %x positions(%p) parameters(%w, %b) state(%inputs)
      : (tensor<?x6xf32>, tensor<?xi32>, tensor<12x12xf32>, tensor<12xf32>,
         tensor<32x6xf32>) -> (tensor<?x6xf32>, tensor<32x6xf32>)
  return %y, %next : tensor<?x6xf32>, tensor<32x6xf32>
}

// CHECK-LABEL: func.func @without_bias
func.func @without_bias(%x: tensor<7x6xf32>, %p: tensor<7xi32>, %w: tensor<12x12xf32>,
                        %inputs: tensor<32x6xf32>) {
  // CHECK: seq.causal_mix %{{.*}} positions(%{{.*}}) parameters(%{{[^,]*}}) state(%{{.*}})
  %y, %next = seq.causal_mix %x positions(%p) parameters(%w) state(%inputs)
      : (tensor<7x6xf32>, tensor<7xi32>, tensor<12x12xf32>, tensor<32x6xf32>)
      -> (tensor<7x6xf32>, tensor<32x6xf32>)
  return
}

// Three weights for each pair of positions: as many sums.
// CHECK-LABEL: func.func @wide
func.func @wide(%x: tensor<?x6xf32>, %p: tensor<?xi32>, %w: tensor<12x12x3xf32>,
                %inputs: tensor<32x6xf32>) {
  // CHECK: seq.causal_mix %{{.*}} positions(%{{.*}}) parameters(%{{[^,]*}}) state(%{{.*}})
  %y, %next = seq.causal_mix %x positions(%p) parameters(%w) state(%inputs)
      : (tensor<?x6xf32>, tensor<?xi32>, tensor<12x12x3xf32>, tensor<32x6xf32>)
      -> (tensor<?x3x6xf32>, tensor<32x6xf32>)
  return
}
