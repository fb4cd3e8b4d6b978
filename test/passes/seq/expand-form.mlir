// RUN: effc-opt %s --seq-expand-form=form=step | FileCheck %s --check-prefixes=CHECK,STEP
// RUN: effc-opt %s --seq-expand-form=form=quadratic | FileCheck %s --check-prefixes=CHECK,QUADRATIC
// RUN: effc-opt %s --seq-expand-form="form=chunkwise chunk=4" | FileCheck %s --check-prefixes=CHECK,CHUNKWISE

// 11 tokens, 6 heads in 2 groups of 3, 4 key and 5 value channels. With chunks
// of 4 the scan covers 8 tokens and 3 are left.

// CHECK-LABEL: func.func @ssd
func.func @ssd(%x: tensor<11x6x5xf32>, %dt: tensor<11x6xf32>,
               %b: tensor<11x2x4xf32>, %c: tensor<11x2x4xf32>,
               %a_log: tensor<6xf32>, %dt_bias: tensor<6xf32>, %d: tensor<6xf32>,
               %s: tensor<6x4x5xf32>)
    -> (tensor<11x6x5xf32>, tensor<6x4x5xf32>) {
  // The token map: gated values, log-decays and the feed-through.
  // CHECK: %[[STEP:.*]] = seq.softplus
  // CHECK: %[[VALUE:.*]] = seq.contract %[[STEP]], %{{.*}} -> tensor<11x6x5xf32>
  // CHECK: %[[DECAY:.*]] = seq.contract %{{.*}}, %[[STEP]] {{.*}} -> tensor<11x6xf32>
  // CHECK: %[[SKIP:.*]] = seq.contract %{{.*}} -> tensor<11x6x5xf32>
  // CHECK: %[[VALUES:.*]] = seq.reshape %[[VALUE]] : tensor<11x6x5xf32> -> tensor<11x2x3x5xf32>
  // CHECK: %[[DECAYS:.*]] = seq.reshape %[[DECAY]] : tensor<11x6xf32> -> tensor<11x2x3xf32>

  // STEP: seq.scan chunk 1
  // STEP-NOT: seq.segment_sum

  // QUADRATIC-NOT: seq.scan
  // QUADRATIC: seq.segment_sum %[[DECAYS]] : tensor<11x2x3xf32> -> tensor<2x3x11x11xf32>

  // CHUNKWISE: %[[FIRST:.*]], %[[STATE:.*]] = seq.scan chunk 4
  // CHUNKWISE-SAME: -> (tensor<8x2x3x5xf32>), (tensor<2x3x4x5xf32>)
  // CHUNKWISE: seq.segment_sum %{{.*}} : tensor<4x2x3xf32> -> tensor<2x3x4x4xf32>
  // CHUNKWISE: seq.yield
  // CHUNKWISE: seq.slice %[[DECAYS]] {axis = 0 : i64, offset = 8 : i64, size = 3 : i64}
  // CHUNKWISE: seq.segment_sum %{{.*}} : tensor<3x2x3xf32> -> tensor<2x3x3x3xf32>
  // CHUNKWISE: seq.contract %{{.*}}, %[[STATE]]
  // CHUNKWISE: seq.concat %[[FIRST]], %{{.*}} {axis = 0 : i64}

  // CHECK: %[[READ:.*]] = seq.reshape %{{.*}} : tensor<11x2x3x5xf32> -> tensor<11x6x5xf32>
  // CHECK: %[[NEXT:.*]] = seq.reshape %{{.*}} : tensor<2x3x4x5xf32> -> tensor<6x4x5xf32>
  // CHECK: %[[Y:.*]] = seq.add %[[READ]], %[[SKIP]]
  // CHECK: return %[[Y]], %[[NEXT]]
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      : (tensor<11x6x5xf32>, tensor<11x6xf32>, tensor<11x2x4xf32>,
         tensor<11x2x4xf32>), (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>),
        tensor<6x4x5xf32>
  return %y, %next : tensor<11x6x5xf32>, tensor<6x4x5xf32>
}
