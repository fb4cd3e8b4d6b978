// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

seq.weight @layers.0.in_proj source("in_proj.weight") : tensor<3352x768xbf16>

// CHECK-LABEL: func.func @parameter
func.func @parameter() -> tensor<3352x768xbf16> {
  // CHECK: seq.parameter @layers.0.in_proj : tensor<3352x768xbf16>
  %w = seq.parameter @layers.0.in_proj : tensor<3352x768xbf16>
  return %w : tensor<3352x768xbf16>
}

// A kernel sees no value from outside, but it sees the module's weights.
// CHECK-LABEL: func.func @parameter_in_kernel
func.func @parameter_in_kernel() -> tensor<3352x768xbf16> {
  // CHECK: seq.kernel "weight"
  // CHECK-NEXT: seq.parameter @layers.0.in_proj
  %r = seq.kernel "weight" () -> (tensor<3352x768xbf16>) {
    %w = seq.parameter @layers.0.in_proj : tensor<3352x768xbf16>
    seq.yield %w : tensor<3352x768xbf16>
  }
  return %r : tensor<3352x768xbf16>
}
