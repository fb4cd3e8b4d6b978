// RUN: effc-opt %s --seq-expand-form=form=step | FileCheck %s --check-prefix=STEP
// RUN: effc-opt %s --seq-expand-form=form=quadratic | FileCheck %s --check-prefix=QUADRATIC
// RUN: effc-opt %s "--seq-expand-form=form=chunkwise chunk=3" | FileCheck %s --check-prefix=CHUNKS

// 7 tokens, 6 heads in 2 groups, a ring of 5 rows. In chunks of 3 the ring is two
// blocks, of 3 and of 2 keys, and the seventh token a block of its own.

// STEP-LABEL: func.func @window
// STEP: seq.scan chunk 1 tokens(
// STEP: seq.ring_write
// STEP: seq.ring_write
// STEP: seq.ring_positions %{{.*}} : tensor<1xi32> -> tensor<5xi32>
// STEP: seq.contract {{.*}} -> tensor<2x3x1x5xf32>
// STEP: seq.window_mask {{.*}} {window = 4 : i64} : tensor<6x1x5xf32>
// STEP: seq.reduce max
// STEP: seq.reduce sum
// STEP: seq.div

// QUADRATIC-LABEL: func.func @window
// QUADRATIC-COUNT-2: seq.ring_write
// QUADRATIC: seq.ring_positions %{{.*}} before : tensor<7xi32> -> tensor<5xi32>
// QUADRATIC: seq.window_mask {{.*}} : tensor<6x7x5xf32>
// QUADRATIC: seq.window_mask {{.*}} : tensor<6x7x7xf32>
// QUADRATIC: seq.concat {{.*}} -> tensor<6x7x12xf32>
// QUADRATIC: seq.reduce max
// QUADRATIC-NOT: seq.max
// QUADRATIC-NOT: seq.scan
// QUADRATIC: return

// CHUNKS-LABEL: func.func @window
// CHUNKS: seq.slice {{.*}} : tensor<7xi32> -> tensor<6xi32>
// CHUNKS: seq.scan chunk 3 tokens(
// CHUNKS: seq.slice {{.*}} : tensor<6x3x5xf32> -> tensor<6x3x3xf32>
// CHUNKS: seq.slice {{.*}} : tensor<6x3x5xf32> -> tensor<6x3x2xf32>
// CHUNKS-COUNT-2: seq.max
// CHUNKS: seq.yield
// CHUNKS: seq.slice {{.*}} : tensor<7xi32> -> tensor<1xi32>
// CHUNKS: seq.concat
func.func @window(%q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>, %v: tensor<7x2x3xf32>, %p: tensor<7xi32>,
                  %keys: tensor<5x2x4xf32>, %values: tensor<5x2x3xf32>)
    -> (tensor<7x6x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>) {
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, %values) {window = 4 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x3xf32>, tensor<7xi32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>)
        -> (tensor<7x6x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>)
  return %y, %a, %b : tensor<7x6x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>
}

// 2 first tokens stay: a third part of the keys, read after they are written, with
// a query of its own. The last of their places and a window of 4 is 5.

// STEP-LABEL: func.func @first_tokens
// STEP: seq.ring_write {{.*}} into(%{{[^)]*}}) :
// STEP: seq.ring_write {{.*}} into(%{{[^)]*}}) :
// STEP-COUNT-2: seq.ring_write {{.*}} first : {{.*}}tensor<2x2x
// STEP: seq.ring_positions %{{.*}} first : tensor<1xi32> -> tensor<2xi32>
// STEP: seq.distances {{.*}} {last = 5 : i64}
// STEP: seq.window_mask {{.*}} passed {window = 4 : i64} : tensor<6x1x2xf32>
// STEP: seq.distances %{{[^,]*}}, %{{[^ ]*}} :
// STEP: seq.window_mask {{.*}} {window = 4 : i64} : tensor<6x1x5xf32>

// QUADRATIC-LABEL: func.func @first_tokens
// QUADRATIC-SAME: %[[QUERY:[^:]*]]: tensor<7x6x4xf32> {test.sink_query}
// QUADRATIC: seq.ring_positions %{{.*}} first : tensor<7xi32> -> tensor<2xi32>
// QUADRATIC: seq.reshape %[[QUERY]]
// QUADRATIC: seq.window_mask {{.*}} passed {window = 4 : i64} : tensor<6x7x2xf32>
// QUADRATIC: seq.concat {{.*}} -> tensor<6x7x14xf32>

// CHUNKS-LABEL: func.func @first_tokens
// CHUNKS: seq.scan chunk 3 tokens(
// CHUNKS: seq.window_mask {{.*}} passed {window = 4 : i64} : tensor<6x3x2xf32>
// CHUNKS-COUNT-3: seq.max
// CHUNKS: seq.yield
func.func @first_tokens(%sq: tensor<7x6x4xf32> {test.sink_query}, %q: tensor<7x6x4xf32>, %k: tensor<7x2x4xf32>,
                        %v: tensor<7x2x3xf32>, %p: tensor<7xi32>, %h: tensor<6xf32>, %keys: tensor<5x2x4xf32>,
                        %values: tensor<5x2x3xf32>, %first_keys: tensor<2x2x4xf32>, %first_values: tensor<2x2x3xf32>)
    -> (tensor<7x6x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>, tensor<2x2x4xf32>, tensor<2x2x3xf32>) {
  %y, %a, %b, %c, %d = seq.attention %q, %k, %v positions(%p) sink_query(%sq) slopes(%h) states(%keys, %values)
      sink_states(%first_keys, %first_values) {window = 4 : i64, scale = 0.5 : f64}
      : (tensor<7x6x4xf32>, tensor<7x2x4xf32>, tensor<7x2x3xf32>, tensor<7xi32>, tensor<7x6x4xf32>, tensor<6xf32>,
         tensor<5x2x4xf32>, tensor<5x2x3xf32>, tensor<2x2x4xf32>, tensor<2x2x3xf32>)
        -> (tensor<7x6x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>, tensor<2x2x4xf32>, tensor<2x2x3xf32>)
  return %y, %a, %b, %c, %d
      : tensor<7x6x3xf32>, tensor<5x2x4xf32>, tensor<5x2x3xf32>, tensor<2x2x4xf32>, tensor<2x2x3xf32>
}
