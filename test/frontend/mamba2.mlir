// RUN: effc-compile %goldens/mamba2/bf16_limit_groups2 --compile-to=import --remarks=%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: effc-compile %goldens/mamba2/bf16_limit_groups2 --compile-to=import --dtype=f32 | FileCheck %s --check-prefix=F32

// Two layers of D = 24 with H = 6 heads of V = 8 and G = 2 groups of K = 20: 48
// inner channels, 48 + 2 * 2 * 20 = 128 of the convolution, whose 4 taps have a
// tail of 3, and 48 + 128 + 6 = 182 rows of in_proj. The head is tied.

// CHECK: seq.model = #seq.model<family = "mamba2", vocabulary = 89, width = 24, max_context = 0>
// CHECK: seq.weight @embeddings source("backbone.embeddings.weight") : tensor<89x24xbf16>
// CHECK: seq.weight @layers.0.in_proj source("backbone.layers.0.mixer.in_proj.weight") : tensor<182x24xbf16>
// CHECK: seq.weight @layers.0.conv source("backbone.layers.0.mixer.conv1d.weight") transposed : tensor<4x128xf32>
// CHECK-NOT: seq.weight @lm_head

// CHECK: func.func @forward(%{{.*}}: tensor<?xi32>, %[[ROWS:.*]]: tensor<?xi32>,
// CHECK-SAME: %[[TAIL:.*]]: tensor<3x128xf32> {seq.state_name = "layers.0.conv"}
// CHECK-SAME: %[[STATE:.*]]: tensor<6x20x8xf32> {seq.state_name = "layers.0.ssd"}
// CHECK-SAME: {seq.state_name = "layers.1.conv"}
// CHECK-SAME: {seq.state_name = "layers.1.ssd"}

// z, then x, B and C together, then dt.
// CHECK: %[[IN:.*]] = seq.linear
// CHECK: %[[Z:.*]] = seq.slice %[[IN]] {{.*}}offset = 0 : i64, size = 48
// CHECK: %[[XBC:.*]] = seq.slice %[[IN]] {{.*}}offset = 48 : i64, size = 128
// CHECK: %[[Y:.*]], %[[NEXT_TAIL:.*]] = seq.short_convolution %[[XBC]]
// CHECK-SAME: state(%[[TAIL]]) {activation = #seq.activation<silu>}
// CHECK: %[[DT:.*]] = seq.slice %[[IN]] {{.*}}offset = 176 : i64, size = 6
// CHECK: %[[OUT:.*]], %[[NEXT_STATE:.*]] = seq.ssd %{{.*}}, %[[DT]],
// CHECK-SAME: state(%[[STATE]]) {dt_max = 5.000000e-01 : f64, dt_min = 5.000000e-02 : f64}
// CHECK: %[[MERGED:.*]] = seq.reshape %[[OUT]]
// CHECK: seq.gated_rms_norm %[[MERGED]], %[[Z]], {{.*}}groups = 2 : i64

// The rows that are wanted are chosen before the last norm.
// CHECK: %[[LAST:.*]] = seq.select_rows %{{.*}}, %[[ROWS]]
// CHECK: %[[NORMED:.*]] = seq.rms_norm %[[LAST]]
// CHECK: %[[TABLE:.*]] = seq.parameter @embeddings
// CHECK: %[[LOGITS:.*]] = seq.lm_head %[[NORMED]], %[[TABLE]]
// CHECK: return %[[LOGITS]], %[[NEXT_TAIL]], %[[NEXT_STATE]],

// REMARK: 'chunk_size' is ignored
// REMARK: one mean square per group of 24 channels
// REMARK: tensor 'backbone.layers.1.mixer.conv1d.weight' (128x1x4 BF16) is @layers.1.conv in f32, transposed

// F32: seq.weight @embeddings {{.*}} : tensor<89x24xf32>
// F32: seq.weight @layers.0.in_proj {{.*}} : tensor<182x24xf32>
