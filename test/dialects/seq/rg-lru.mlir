// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @rg_lru
func.func @rg_lru(
    %x: tensor<?x6x5xf32>,
    %recurrence: tensor<?x6x5xf32>,
    %input: tensor<?x6x5xf32>,
    %p: tensor<?xi32>,
    %rate: tensor<6x5xf32>,
    %state: tensor<6x1x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>) {
  // CHECK: seq.rg_lru %{{.*}} positions(%{{.*}}) parameters(%{{.*}}) state(%{{.*}})
  %y, %next = seq.rg_lru %x, %recurrence, %input positions(%p) parameters(%rate)
        state(%state)
      : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?xi32>,
        tensor<6x5xf32>, tensor<6x1x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x1x5xf32>
}

// CHECK-LABEL: func.func @of_another_exponent
func.func @of_another_exponent(%x: tensor<7x6x5xf32>, %p: tensor<7xi32>,
    %rate: tensor<6x5xf32>, %state: tensor<6x1x5xf32>) {
  // CHECK: {exponent = 4.000000e+00 : f64}
  %y, %next = seq.rg_lru %x, %x, %x positions(%p) parameters(%rate) state(%state)
        {exponent = 4.0 : f64}
      : (tensor<7x6x5xf32>, tensor<7x6x5xf32>, tensor<7x6x5xf32>, tensor<7xi32>,
        tensor<6x5xf32>, tensor<6x1x5xf32>)
      -> (tensor<7x6x5xf32>, tensor<6x1x5xf32>)
  return
}
