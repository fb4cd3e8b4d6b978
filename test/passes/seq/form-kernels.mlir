// RUN: effc-opt %s --seq-form-kernels --split-input-file --verify-diagnostics | FileCheck %s
// RUN: effc-opt %s --seq-form-kernels=max-ops=2 --split-input-file 2>&1 | FileCheck %s --check-prefix=SHORT

// One core each, with the elementwise ops that follow where nothing else reads
// what the core gives. Kernels are called as their core is.

// With two ops at most the residual is a kernel of its own.
// SHORT: remark: fused into kernel 'layers.0.out_proj' as its epilogue
// SHORT: remark: not fused into kernel 'layers.0.out_proj', which has 2 ops
// SHORT: func.func @epilogue_and_residual
// SHORT: seq.kernel "layers.0.out_proj"
// SHORT-NEXT: seq.linear
// SHORT-NEXT: seq.silu
// SHORT-NEXT: seq.yield
// SHORT: seq.kernel "add"
// SHORT-NEXT: seq.add
// CHECK-LABEL: func.func @epilogue_and_residual
// CHECK-SAME: (%[[X:.*]]: tensor<?x6xf32>, %[[W:.*]]: tensor<6x6xf32>)
func.func @epilogue_and_residual(%x: tensor<?x6xf32>, %w: tensor<6x6xf32>) -> tensor<?x6xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
  // CHECK: %[[R:.*]] = seq.kernel "layers.0.out_proj" (%[[A:.*]] = %[[X]] : tensor<?x6xf32>, %[[B:.*]] = %[[W]] : tensor<6x6xf32>) -> (tensor<?x6xf32>) attributes {root = 0 : i64} {
  // CHECK-NEXT: %[[P:.*]] = seq.linear %[[A]], %[[B]]
  // CHECK-NEXT: %[[S:.*]] = seq.silu %[[P]]
  // CHECK-NEXT: %[[SUM:.*]] = seq.add %[[A]], %[[S]]
  // CHECK-NEXT: seq.yield %[[SUM]]
  // CHECK: return %[[R]]
  %p = seq.linear %x, %w : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32> loc("layers.0.out_proj")
  // expected-remark @+1 {{fused into kernel 'layers.0.out_proj' as its epilogue}}
  %s = seq.silu %p : tensor<?x6xf32>
  // expected-remark @+1 {{fused into kernel 'layers.0.out_proj' as its epilogue}}
  %sum = seq.add %x, %s : tensor<?x6xf32>
  return %sum : tensor<?x6xf32>
}

// -----

// %p has two uses, so the product stays alone; of the two kernels that follow
// the second takes in nothing, since the first one's result leaves.
// CHECK-LABEL: func.func @core_with_two_uses
func.func @core_with_two_uses(%x: tensor<?x5xf32>, %w: tensor<6x5xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  // CHECK: %[[P:.*]] = seq.kernel "linear"
  // CHECK: %[[S:.*]] = seq.kernel "silu" (%{{.*}} = %[[P]] : tensor<?x6xf32>) -> (tensor<?x6xf32>) {
  // CHECK: %[[Q:.*]] = seq.kernel "mul" (%{{.*}} = %[[P]] : tensor<?x6xf32>, %{{.*}} = %[[S]] : tensor<?x6xf32>)
  // CHECK: return %[[S]], %[[Q]]
  %p = seq.linear %x, %w : (tensor<?x5xf32>, tensor<6x5xf32>) -> tensor<?x6xf32>
  %s = seq.silu %p : tensor<?x6xf32>
  %q = seq.mul %p, %s : tensor<?x6xf32>
  return %s, %q : tensor<?x6xf32>, tensor<?x6xf32>
}

// -----

// Slices and reshapes are copied into both kernels that read through them, and
// the kernels take the whole tensor.
// CHECK-LABEL: func.func @views
// CHECK-SAME: (%[[X:.*]]: tensor<?x14xf32>
func.func @views(%x: tensor<?x14xf32>, %w: tensor<6xf32>, %v: tensor<5x6xf32>) -> (tensor<?x6xf32>, tensor<?x5xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  // CHECK-NOT: seq.slice
  // CHECK: seq.kernel "rms_norm" (%[[A:.*]] = %[[X]] : tensor<?x14xf32>
  // CHECK-NEXT: %[[S:.*]] = seq.slice %[[A]] {axis = 1 : i64, offset = 3 : i64, size = 6 : i64}
  // CHECK-NEXT: seq.rms_norm %[[S]]
  // CHECK: seq.kernel "linear" (%[[A:.*]] = %[[X]] : tensor<?x14xf32>
  // CHECK-NEXT: %[[S:.*]] = seq.slice %[[A]] {axis = 1 : i64, offset = 3 : i64, size = 6 : i64}
  // CHECK-NEXT: seq.linear %[[S]]
  %s = seq.slice %x {axis = 1 : i64, offset = 3 : i64, size = 6 : i64} : tensor<?x14xf32> -> tensor<?x6xf32>
  %n = seq.rms_norm %s, %w {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  %p = seq.linear %s, %v : (tensor<?x6xf32>, tensor<5x6xf32>) -> tensor<?x5xf32>
  return %n, %p : tensor<?x6xf32>, tensor<?x5xf32>
}

// -----

// A state that an epilogue does not touch stays a result of the kernel; what is
// no entry is left alone.
// CHECK-LABEL: func.func @mixer
func.func @mixer(%x: tensor<?x5xf32>, %w: tensor<4x5xf32>, %tail: tensor<3x5xf32>) -> (tensor<?x5xf32>, tensor<3x5xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  // CHECK: %[[K:.*]]:2 = seq.kernel "short_convolution"
  // CHECK-NEXT: %[[Y:.*]], %[[NEXT:.*]] = seq.short_convolution
  // CHECK-NEXT: %[[N:.*]] = seq.neg %[[Y]]
  // CHECK-NEXT: seq.yield %[[NEXT]], %[[N]]
  // CHECK: return %[[K]]#1, %[[K]]#0
  %y, %next = seq.short_convolution %x parameters(%w) state(%tail)
      {activation = #seq.activation<none>} : tensor<?x5xf32>, (tensor<4x5xf32>), tensor<3x5xf32>
  // expected-remark @+1 {{fused into kernel 'short_convolution' as its epilogue}}
  %n = seq.neg %y : tensor<?x5xf32>
  return %n, %next : tensor<?x5xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: func.func @no_entry
// CHECK-NOT: seq.kernel
func.func @no_entry(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %y = seq.neg %x : tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// -----

// The sum is the epilogue of the first core, %n, and reads the second, %p: the first
// kernel comes last.
// CHECK-LABEL: func.func @epilogue_of_an_earlier_core
func.func @epilogue_of_an_earlier_core(%x: tensor<?x5xf32>, %w: tensor<5xf32>, %v: tensor<5x5xf32>) -> tensor<?x5xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  // CHECK: %[[P:.*]] = seq.kernel "linear"
  // CHECK: %[[S:.*]] = seq.kernel "rms_norm" ({{.*}} = %[[P]] : tensor<?x5xf32>)
  // CHECK: return %[[S]]
  %n = seq.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x5xf32>, tensor<5xf32>
  %p = seq.linear %x, %v : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  // expected-remark @+1 {{fused into kernel 'rms_norm' as its epilogue}}
  %s = seq.add %n, %p : tensor<?x5xf32>
  return %s : tensor<?x5xf32>
}

// -----

// Logits that leave stay alone, those of which a choice is made have it, and
// what bounds them, in their kernel.
// CHECK-LABEL: func.func @logits_and_a_choice
func.func @logits_and_a_choice(%x: tensor<?x5xf32>, %w: tensor<11x5xf32>) -> (tensor<?x11xf32>, tensor<?x2xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  // CHECK: %[[Y:.*]] = seq.kernel "head"
  // CHECK-NEXT: seq.lm_head
  // CHECK-NEXT: seq.yield
  // CHECK: %[[L:.*]] = seq.kernel "tanh" ({{.*}} = %[[Y]] : tensor<?x11xf32>)
  // CHECK: %[[C:.*]] = seq.kernel "again"
  // CHECK-NEXT: %[[Z:.*]] = seq.lm_head
  // CHECK-NEXT: %[[T:.*]] = seq.tanh %[[Z]]
  // CHECK-NEXT: %[[B:.*]] = seq.best %[[T]]
  // CHECK-NEXT: seq.yield %[[B]]
  // CHECK: return %[[L]], %[[C]]
  %y = seq.lm_head %x, %w : (tensor<?x5xf32>, tensor<11x5xf32>) -> tensor<?x11xf32> loc("head")
  %l = seq.tanh %y : tensor<?x11xf32>
  %z = seq.lm_head %x, %w : (tensor<?x5xf32>, tensor<11x5xf32>) -> tensor<?x11xf32> loc("again")
  // expected-remark @+1 {{fused into kernel 'again' as its epilogue}}
  %t = seq.tanh %z : tensor<?x11xf32>
  // expected-remark @+1 {{fused into kernel 'again' as its epilogue}}
  %c = seq.best %t : tensor<?x11xf32> -> tensor<?x2xf32>
  return %l, %c : tensor<?x11xf32>, tensor<?x2xf32>
}

// -----

// A choice ends its kernel, and one of what no product gives has its own.
// CHECK-LABEL: func.func @choice_of_a_norm
func.func @choice_of_a_norm(%x: tensor<?x5xf32>, %w: tensor<5xf32>) -> tensor<?x2xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  // CHECK: seq.kernel "rms_norm"
  // CHECK: seq.kernel "best"
  // CHECK-NEXT: seq.best
  // CHECK: seq.kernel "neg"
  %n = seq.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x5xf32>, tensor<5xf32>
  %c = seq.best %n : tensor<?x5xf32> -> tensor<?x2xf32>
  %m = seq.neg %c : tensor<?x2xf32>
  return %m : tensor<?x2xf32>
}
