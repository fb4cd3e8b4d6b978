// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// CHECK-LABEL: func.func @add
func.func @add(%a: tensor<?x6xf32>, %b: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.add %{{.*}}, %{{.*}} : tensor<?x6xf32>
  %y = seq.add %a, %b : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @sub
func.func @sub(%a: tensor<?x6xf32>, %b: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.sub %{{.*}}, %{{.*}} : tensor<?x6xf32>
  %y = seq.sub %a, %b : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @mul
func.func @mul(%a: tensor<?x6xf32>, %b: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.mul %{{.*}}, %{{.*}} : tensor<?x6xf32>
  %y = seq.mul %a, %b : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @neg
func.func @neg(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.neg %{{.*}} : tensor<?x6xf32>
  %y = seq.neg %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @exp
func.func @exp(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.exp %{{.*}} : tensor<?x6xf32>
  %y = seq.exp %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @sigmoid
func.func @sigmoid(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.sigmoid %{{.*}} : tensor<?x6xf32>
  %y = seq.sigmoid %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @silu
func.func @silu(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.silu %{{.*}} : tensor<?x6xf32>
  %y = seq.silu %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @softplus
func.func @softplus(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.softplus %{{.*}} : tensor<?x6xf32>
  %y = seq.softplus %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @gelu(
func.func @gelu(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.gelu %{{.*}} : tensor<?x6xf32>
  %y = seq.gelu %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @gelu_tanh(
func.func @gelu_tanh(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.gelu_tanh %{{.*}} : tensor<?x6xf32>
  %y = seq.gelu_tanh %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @div
func.func @div(%a: tensor<?x6xf32>, %b: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.div %{{.*}}, %{{.*}} : tensor<?x6xf32>
  %y = seq.div %a, %b : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @max
func.func @max(%a: tensor<?x6xf32>, %b: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.max %{{.*}}, %{{.*}} : tensor<?x6xf32>
  %y = seq.max %a, %b : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @log_sigmoid
func.func @log_sigmoid(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.log_sigmoid %{{.*}} : tensor<?x6xf32>
  %y = seq.log_sigmoid %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @tanh
func.func @tanh(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.tanh %{{.*}} : tensor<?x6xf32>
  %y = seq.tanh %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @relu
func.func @relu(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.relu %{{.*}} : tensor<?x6xf32>
  %y = seq.relu %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @log
func.func @log(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.log %{{.*}} : tensor<?x6xf32>
  %y = seq.log %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @sqrt
func.func @sqrt(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.sqrt %{{.*}} : tensor<?x6xf32>
  %y = seq.sqrt %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @cos
func.func @cos(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.cos %{{.*}} : tensor<?x6xf32>
  %y = seq.cos %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @sin
func.func @sin(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.sin %{{.*}} : tensor<?x6xf32>
  %y = seq.sin %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @abs
func.func @abs(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.abs %{{.*}} : tensor<?x6xf32>
  %y = seq.abs %x : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @scale
func.func @scale(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  // CHECK: seq.scale %{{.*}} by 1.250000e-01 : tensor<?x6xf32>
  %y = seq.scale %x by 0.125 : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}
