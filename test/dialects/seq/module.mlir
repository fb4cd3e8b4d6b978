// RUN: effc-opt %s --verify-roundtrip | FileCheck %s
// RUN: effc-opt %s --mlir-print-op-generic | effc-opt | FileCheck %s

// The attributes that the dialect puts on other dialects' ops, as a compiled
// model carries them: two states, returned after the logits.

// CHECK: module attributes {seq.model = #seq.model<{{.*}}>, seq.state_layout = #seq.state_layout<slot_bytes = 248, {{.*}}>}
module attributes {
  seq.model = #seq.model<family = "mamba2", vocabulary = 11, width = 6, max_context = 0>,
  seq.state_layout = #seq.state_layout<slot_bytes = 248, states = [
    <name = "layers.0.conv", kind = tail, growth = fixed,
     type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 0>,
    <name = "layers.0.ssd", kind = matrix, growth = fixed,
     type = tensor<2x3x5xf32>, neutral = 0.0 : f32, offset = 128>]>} {
  // CHECK: func.func @forward(
  // CHECK-SAME: %{{.*}}: tensor<3x10xf32> {seq.state_name = "layers.0.conv"}
  // CHECK-SAME: %{{.*}}: tensor<2x3x5xf32> {seq.state_name = "layers.0.ssd"}
  // CHECK-SAME: attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>}
  func.func @forward(%tokens: tensor<?xi32>, %output_rows: tensor<?xi32>,
                     %conv: tensor<3x10xf32> {seq.state_name = "layers.0.conv"},
                     %ssd: tensor<2x3x5xf32> {seq.state_name = "layers.0.ssd"},
                     %x: tensor<?x11xf32>)
      -> (tensor<?x11xf32>, tensor<3x10xf32>, tensor<2x3x5xf32>)
      attributes {seq.entry = #seq.entry<kind = prefill, rows = 16>} {
    return %x, %conv, %ssd : tensor<?x11xf32>, tensor<3x10xf32>, tensor<2x3x5xf32>
  }
}
