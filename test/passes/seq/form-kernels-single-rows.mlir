// RUN: effc-opt %s --seq-form-kernels 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t
// RUN: sed 's/#tile.target<nvptx,/& bit_stable = true,/' %s | effc-opt --seq-form-kernels 2> /dev/null | FileCheck %s --check-prefix=APART
// RUN: sed -e '/^module/,/cores/d' -e '$d' %s | effc-opt --seq-form-kernels 2> /dev/null | FileCheck %s --check-prefix=APART

// What joins the product of a single row on a GPU. Where bits are to be the same as
// beside other rows, and on the host, nothing does.

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// A norm goes into both products that read it where there is one row, and stays a
// kernel where there are more.
// REMARK: remark: fused into kernel 'gate' as its prologue
// REMARK: remark: fused into kernel 'up' as its prologue
// CHECK-LABEL: func.func @norm_of_one_row
// CHECK: seq.kernel "up" (%[[X:.*]] = %{{.*}} : tensor<?x6xf32>, %[[G:.*]] = %{{.*}} : tensor<6xf32>, %[[W:.*]] = %{{.*}} : tensor<5x6xf32>)
// CHECK-NEXT: %[[U:.*]] = seq.rms_norm %[[X]], %[[G]]
// CHECK-NEXT: seq.linear %[[U]], %[[W]]
// CHECK-NEXT: seq.yield
// CHECK: seq.kernel "gate"
// CHECK-NEXT: seq.rms_norm
// CHECK-NEXT: seq.linear
// CHECK-NEXT: seq.mul
// CHECK-LABEL: func.func @norm_of_two_rows
// CHECK: seq.kernel "rms_norm"
// APART-LABEL: func.func @norm_of_one_row
// APART: seq.kernel "rms_norm"
func.func @norm_of_one_row(%x: tensor<?x6xf32>, %g: tensor<6xf32>, %w: tensor<5x6xf32>, %v: tensor<5x6xf32>) -> tensor<?x5xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %u = seq.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  %p = seq.linear %u, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32> loc("gate")
  %q = seq.linear %u, %v : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32> loc("up")
  %y = seq.mul %p, %q : tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

func.func @norm_of_two_rows(%x: tensor<?x6xf32>, %g: tensor<6xf32>, %w: tensor<5x6xf32>) -> tensor<?x5xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %u = seq.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  %p = seq.linear %u, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  return %p : tensor<?x5xf32>
}

// What is read by more than products stays a kernel; so does a norm of groups.
// CHECK-LABEL: func.func @norms_that_stay
// CHECK: seq.kernel "rms_norm"
// CHECK: seq.kernel "gated_rms_norm"
func.func @norms_that_stay(%x: tensor<?x6xf32>, %g: tensor<6xf32>, %w: tensor<5x6xf32>) -> (tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x5xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %u = seq.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  %p = seq.linear %u, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  %v = seq.gated_rms_norm %x, %x, %g {eps = 1.0e-5 : f64, groups = 2 : i64} : tensor<?x6xf32>, tensor<6xf32>
  %q = seq.linear %v, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  return %p, %u, %q : tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x5xf32>
}

// A convolution of some of a product's outputs goes into the product's kernel
// where there are one row or two: the other outputs are read as before. What comes
// between the two stays behind the kernel, which needs nothing of it.
// REMARK: remark: loc("conv"): fused into kernel 'in_proj' as its epilogue
// CHECK-LABEL: func.func @convolution_of_one_row
// CHECK: %[[TAPS:.*]] = seq.parameter @taps
// CHECK: %[[R:.*]]:3 = seq.kernel "in_proj" ({{.*}}, %[[T:.*]] = %[[TAPS]] : tensor<3x5xf32>, %[[S:.*]] = %{{.*}} : tensor<2x5xf32>)
// CHECK-NEXT: %[[P:.*]] = seq.linear
// CHECK-NEXT: %[[X:.*]] = seq.slice %[[P]] {axis = 1 : i64, offset = 4 : i64, size = 5 : i64}
// CHECK-NEXT: %[[Y:.*]], %[[N:.*]] = seq.short_convolution %[[X]] parameters(%[[T]]) state(%[[S]])
// CHECK-NEXT: seq.yield %[[P]], %[[Y]], %[[N]]
// CHECK: %[[G:.*]] = seq.kernel "silu" ({{.*}} = %[[R]]#0
// CHECK-NEXT: seq.slice
// CHECK-NEXT: seq.silu
// CHECK: return %[[R]]#1, %[[G]], %[[R]]#2
// CHECK-LABEL: func.func @convolution_of_two_rows
// CHECK: seq.kernel "linear"
// CHECK-NEXT: seq.linear
// CHECK-NEXT: seq.short_convolution
// CHECK-NEXT: seq.yield
// CHECK-LABEL: func.func @convolution_of_three_rows
// CHECK: seq.kernel "linear"
// CHECK: seq.kernel "short_convolution"
// APART-LABEL: func.func @convolution_of_one_row
// APART: seq.kernel "in_proj"
// APART: seq.kernel "silu"
// APART: seq.kernel "conv"
seq.weight @taps source("taps") : tensor<3x5xf32>
func.func @convolution_of_one_row(%x: tensor<?x6xf32>, %w: tensor<11x6xf32>, %tail: tensor<2x5xf32>) -> (tensor<?x5xf32>, tensor<?x4xf32>, tensor<2x5xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %p = seq.linear %x, %w : (tensor<?x6xf32>, tensor<11x6xf32>) -> tensor<?x11xf32> loc("in_proj")
  %z = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 4 : i64} : tensor<?x11xf32> -> tensor<?x4xf32>
  %g = seq.silu %z : tensor<?x4xf32>
  %taps = seq.parameter @taps : tensor<3x5xf32>
  %c = seq.slice %p {axis = 1 : i64, offset = 4 : i64, size = 5 : i64} : tensor<?x11xf32> -> tensor<?x5xf32>
  %y, %next = seq.short_convolution %c parameters(%taps) state(%tail) {activation = #seq.activation<silu>}
      : tensor<?x5xf32>, (tensor<3x5xf32>), tensor<2x5xf32> loc("conv")
  return %y, %g, %next : tensor<?x5xf32>, tensor<?x4xf32>, tensor<2x5xf32>
}

func.func @convolution_of_two_rows(%x: tensor<?x6xf32>, %w: tensor<5x6xf32>, %t: tensor<3x5xf32>, %tail: tensor<2x5xf32>) -> (tensor<?x5xf32>, tensor<2x5xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %p = seq.linear %x, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  %y, %next = seq.short_convolution %p parameters(%t) state(%tail) {activation = #seq.activation<none>}
      : tensor<?x5xf32>, (tensor<3x5xf32>), tensor<2x5xf32>
  return %y, %next : tensor<?x5xf32>, tensor<2x5xf32>
}

func.func @convolution_of_three_rows(%x: tensor<?x6xf32>, %w: tensor<5x6xf32>, %t: tensor<3x5xf32>, %tail: tensor<2x5xf32>) -> (tensor<?x5xf32>, tensor<2x5xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 3>} {
  %p = seq.linear %x, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  %y, %next = seq.short_convolution %p parameters(%t) state(%tail) {activation = #seq.activation<none>}
      : tensor<?x5xf32>, (tensor<3x5xf32>), tensor<2x5xf32>
  return %y, %next : tensor<?x5xf32>, tensor<2x5xf32>
}

// A convolution that takes all that its product gives has an epilogue as it has
// alone, and one of the same outputs shares the kernel. One of outputs that
// another has taken in part, and one that reads what is made of the product, stay
// kernels.
// CHECK-LABEL: func.func @convolutions_of_all
// CHECK: seq.kernel "linear"
// CHECK-NEXT: seq.linear
// CHECK-NEXT: seq.short_convolution
// CHECK-NEXT: seq.mul
// CHECK-NEXT: seq.yield
// CHECK: seq.kernel "linear"
// CHECK-NEXT: seq.linear
// CHECK-NEXT: seq.short_convolution
// CHECK-NEXT: seq.short_convolution
// CHECK-NEXT: seq.yield
// CHECK: seq.kernel "short_convolution"
// CHECK: seq.kernel "short_convolution"
func.func @convolutions_of_all(%x: tensor<?x6xf32>, %w: tensor<5x6xf32>, %t: tensor<2x5xf32>, %u: tensor<2x3xf32>, %s0: tensor<1x5xf32>, %s1: tensor<1x5xf32>, %s2: tensor<1x5xf32>, %s3: tensor<1x3xf32>, %s4: tensor<1x3xf32>, %g: tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x3xf32>, tensor<1x3xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %p = seq.linear %x, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  %a, %n0 = seq.short_convolution %p parameters(%t) state(%s0) {activation = #seq.activation<none>}
      : tensor<?x5xf32>, (tensor<2x5xf32>), tensor<1x5xf32>
  %y = seq.mul %a, %g : tensor<?x5xf32>
  %q = seq.linear %x, %w : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  %b, %n1 = seq.short_convolution %q parameters(%t) state(%s1) {activation = #seq.activation<none>}
      : tensor<?x5xf32>, (tensor<2x5xf32>), tensor<1x5xf32>
  %e, %n2 = seq.short_convolution %q parameters(%t) state(%s2) {activation = #seq.activation<silu>}
      : tensor<?x5xf32>, (tensor<2x5xf32>), tensor<1x5xf32>
  %part = seq.slice %q {axis = 1 : i64, offset = 1 : i64, size = 3 : i64} : tensor<?x5xf32> -> tensor<?x3xf32>
  %c, %n3 = seq.short_convolution %part parameters(%u) state(%s3) {activation = #seq.activation<none>}
      : tensor<?x3xf32>, (tensor<2x3xf32>), tensor<1x3xf32>
  %d, %n4 = seq.short_convolution %c parameters(%u) state(%s4) {activation = #seq.activation<none>}
      : tensor<?x3xf32>, (tensor<2x3xf32>), tensor<1x3xf32>
  %z = seq.neg %d : tensor<?x3xf32>
  return %y, %z, %b, %e, %n0, %n1, %n2, %n3, %n4 : tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}
}
