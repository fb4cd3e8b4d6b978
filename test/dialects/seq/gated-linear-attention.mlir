// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @gated_linear_attention
func.func @gated_linear_attention(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %key_gate: tensor<?x6x3xf32>,
    %state: tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.gated_linear_attention %{{.*}} key_gate(%{{.*}}) state(%{{.*}})
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%key_gate)
      state(%state) {scale = 5.000000e-01 : f64, temperature = 1.600000e+01 : f64}
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>,
         tensor<?x6x3xf32>, tensor<6x3x5xf32>)
      -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}

// CHECK-LABEL: func.func @value_gate
func.func @value_gate(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %gate: tensor<?x6x5xf32>,
    %state: tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.gated_linear_attention %{{.*}} value_gate(%{{.*}}) state(%{{.*}})
  %y, %next = seq.gated_linear_attention %q, %k, %v value_gate(%gate) state(%state)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}

// CHECK-LABEL: func.func @both_gates
func.func @both_gates(%q: tensor<?x6x3xf32>, %k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %a: tensor<?x6x3xf32>,
    %b: tensor<?x6x5xf32>, %state: tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>) {
  // CHECK: seq.gated_linear_attention %{{.*}} key_gate(%{{.*}}) value_gate(%{{.*}}) state(%{{.*}})
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%a) value_gate(%b) state(%state)
      : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
  return %y, %next : tensor<?x6x5xf32>, tensor<6x3x5xf32>
}
