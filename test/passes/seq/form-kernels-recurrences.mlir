// RUN: effc-opt %s --seq-form-kernels 2> %t | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t
// RUN: effc-opt %s --seq-form-kernels=max-ops=2 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: sed -e '/^module/,/cores/d' -e '$d' %s | effc-opt --seq-form-kernels 2> /dev/null | FileCheck %s --check-prefix=HOST
// RUN: sed 's/#tile.target<nvptx,/& bit_stable = true,/' %s | effc-opt --seq-form-kernels 2> /dev/null | FileCheck %s --check-prefixes=STABLE,GPU

// Recurrences whose channels do not meet join the product with a single row that
// makes them, where numbers of heads come from rows of tables with these rows,
// and what joins their results. So it is on a GPU, unless bits are to be the same as
// beside other rows: then the rows of tables are all that joins a recurrence. On the
// host nothing does.

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60, dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// Columns, 2 heads of 3 channels behind 2 others, and rows, one head of 5 behind
// them. The table's row is read once for all that read it; what was one of its
// slices, and of the product's, is each op's own. The tensor that joins them is
// the kernel's, and so are both states; nobody reads the product any more but
// who reads its first outputs.
// REMARK: remark: fused into kernel 'in_proj' as its prologue
// REMARK: remark: fused into kernel 'in_proj' as its epilogue
// REMARK: remark: fused into kernel 'in_proj' as its epilogue
// REMARK: remark: fused into kernel 'in_proj' as its epilogue
// CHECK-LABEL: func.func @joined
// CHECK-SAME: (%[[IN:[^:]*]]: tensor<?x6xf32>, %[[NUMBERS:[^:]*]]: tensor<?xi32>
// CHECK: %[[R:.*]]:4 = seq.kernel "in_proj" (
// CHECK-SAME: %[[N:[^ ]*]] = %[[NUMBERS]] : tensor<?xi32>, %[[TABLE:[^ ]*]] = %{{[^ ]*}} : tensor<7x4xf32>
// CHECK-NEXT: %[[ROW:.*]] = seq.embedding %[[N]], %[[TABLE]]
// CHECK-NEXT: %[[TARGET:.*]] = seq.slice %[[ROW]] {axis = 1 : i64, offset = 1 : i64, size = 2 : i64}
// CHECK-NEXT: %[[SOURCE:.*]] = seq.slice %[[ROW]] {axis = 1 : i64, offset = 3 : i64, size = 1 : i64}
// CHECK-NEXT: %[[P:.*]] = seq.linear
// CHECK-NEXT: %[[X0:.*]] = seq.slice %[[P]] {axis = 1 : i64, offset = 2 : i64, size = 6 : i64}
// CHECK-NEXT: %[[H0:.*]] = seq.reshape %[[X0]]
// CHECK-NEXT: %[[Y0:.*]], %[[NEXT0:.*]] = seq.structured_recurrence %[[H0]] target(%[[TARGET]])
// CHECK-NEXT: %[[X1:.*]] = seq.slice %[[P]] {axis = 1 : i64, offset = 8 : i64, size = 5 : i64}
// CHECK-NEXT: %[[H1:.*]] = seq.reshape %[[X1]]
// CHECK-NEXT: %[[Y1:.*]], %[[NEXT1:.*]] = seq.structured_recurrence %[[H1]] source(%[[SOURCE]])
// CHECK-NEXT: %[[F1:.*]] = seq.reshape %[[Y1]]
// CHECK-NEXT: %[[F0:.*]] = seq.reshape %[[Y0]]
// CHECK-NEXT: %[[J:.*]] = seq.concat %[[F1]], %[[F0]]
// CHECK-NEXT: seq.yield %[[P]], %[[NEXT0]], %[[NEXT1]], %[[J]]
// CHECK-NOT: seq.embedding
// CHECK: seq.kernel "silu"
// CHECK: return %[[R]]#3, %{{.*}}, %[[R]]#1, %[[R]]#2

// With two ops at most both recurrences are there, and what joins them is not.
// SHORT: remark: not fused into the kernel of its product, which has 2 ops behind it
// SHORT-LABEL: func.func @joined
// SHORT: seq.kernel "in_proj"
// SHORT: seq.kernel "concat"

// STABLE-LABEL: func.func @joined
// STABLE-NOT: seq.kernel "embedding"
// STABLE: seq.kernel "structured_recurrence"
// STABLE: seq.embedding
// STABLE: seq.kernel "structured_recurrence"
// STABLE: seq.embedding
// STABLE: seq.kernel "concat"

// HOST-LABEL: func.func @joined
// HOST: seq.kernel "embedding"
// HOST: seq.kernel "structured_recurrence"
// HOST: seq.kernel "structured_recurrence"
// HOST: seq.kernel "concat"
func.func @joined(%x: tensor<?x6xf32>, %numbers: tensor<?xi32>, %w: tensor<13x6xf32>, %s0: tensor<2x1x3xf32>, %s1: tensor<1x1x5xf32>) -> (tensor<?x11xf32>, tensor<?x2xf32>, tensor<2x1x3xf32>, tensor<1x1x5xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %p = seq.linear %x, %w : (tensor<?x6xf32>, tensor<13x6xf32>) -> tensor<?x13xf32> loc("in_proj")
  %z = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 2 : i64} : tensor<?x13xf32> -> tensor<?x2xf32>
  %g = seq.silu %z : tensor<?x2xf32>
  %table = seq.parameter @table : tensor<7x4xf32>
  %row = seq.embedding %numbers, %table : (tensor<?xi32>, tensor<7x4xf32>) -> tensor<?x4xf32>
  %target = seq.slice %row {axis = 1 : i64, offset = 1 : i64, size = 2 : i64} : tensor<?x4xf32> -> tensor<?x2xf32>
  %source = seq.slice %row {axis = 1 : i64, offset = 3 : i64, size = 1 : i64} : tensor<?x4xf32> -> tensor<?x1xf32>
  %x0 = seq.slice %p {axis = 1 : i64, offset = 2 : i64, size = 6 : i64} : tensor<?x13xf32> -> tensor<?x6xf32>
  %h0 = seq.reshape %x0 : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y0, %n0 = seq.structured_recurrence %h0 target(%target) state(%s0)
      : (tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<2x1x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x1x3xf32>)
  %f0 = seq.reshape %y0 : tensor<?x2x3xf32> -> tensor<?x6xf32>
  %x1 = seq.slice %p {axis = 1 : i64, offset = 8 : i64, size = 5 : i64} : tensor<?x13xf32> -> tensor<?x5xf32>
  %h1 = seq.reshape %x1 : tensor<?x5xf32> -> tensor<?x1x5xf32>
  %y1, %n1 = seq.structured_recurrence %h1 source(%source) state(%s1)
      : (tensor<?x1x5xf32>, tensor<?x1xf32>, tensor<1x1x5xf32>) -> (tensor<?x1x5xf32>, tensor<1x1x5xf32>)
  %f1 = seq.reshape %y1 : tensor<?x1x5xf32> -> tensor<?x5xf32>
  %j = seq.concat %f1, %f0 {axis = 1 : i64} : (tensor<?x5xf32>, tensor<?x6xf32>) -> tensor<?x11xf32>
  return %j, %g, %n0, %n1 : tensor<?x11xf32>, tensor<?x2xf32>, tensor<2x1x3xf32>, tensor<1x1x5xf32>
}
seq.weight @table source("table") : tensor<7x4xf32>

// Two recurrences of the same outputs, and their sum; a weight of a token that is
// there before the product is read where it lies.
// CHECK-LABEL: func.func @added
// CHECK: seq.kernel "linear"
// CHECK-NEXT: seq.slice
// CHECK-NEXT: seq.linear
// CHECK-NEXT: seq.reshape
// CHECK-NEXT: seq.structured_recurrence
// CHECK-NEXT: seq.reshape
// CHECK-NEXT: seq.structured_recurrence
// CHECK-NEXT: %[[SUM:.*]] = seq.add
// CHECK-NEXT: seq.yield %{{.*}}, %{{.*}}, %[[SUM]]
func.func @added(%x: tensor<?x7xf32>, %w: tensor<6x7xf32>, %s0: tensor<2x1x3xf32>, %s1: tensor<2x1x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %source = seq.slice %x {axis = 1 : i64, offset = 4 : i64, size = 2 : i64} : tensor<?x7xf32> -> tensor<?x2xf32>
  %p = seq.linear %x, %w : (tensor<?x7xf32>, tensor<6x7xf32>) -> tensor<?x6xf32>
  %h = seq.reshape %p : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y0, %n0 = seq.structured_recurrence %h source(%source) state(%s0)
      : (tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<2x1x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x1x3xf32>)
  %y1, %n1 = seq.structured_recurrence %h state(%s1)
      : (tensor<?x2x3xf32>, tensor<2x1x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x1x3xf32>)
  %sum = seq.add %y0, %y1 : tensor<?x2x3xf32>
  return %sum, %n0, %n1 : tensor<?x2x3xf32>, tensor<2x1x3xf32>, tensor<2x1x3xf32>
}

// A weight that is computed behind the product is there too late; what follows
// such a recurrence is its own kernel's.
// CHECK-LABEL: func.func @too_late
// CHECK: seq.kernel "linear"
// CHECK-NEXT: seq.linear
// CHECK-NEXT: seq.yield
// CHECK: seq.kernel "sigmoid"
// CHECK: seq.kernel "structured_recurrence"
func.func @too_late(%x: tensor<?x7xf32>, %w: tensor<6x7xf32>, %s: tensor<2x1x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x1x3xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %p = seq.linear %x, %w : (tensor<?x7xf32>, tensor<6x7xf32>) -> tensor<?x6xf32>
  %a = seq.slice %p {axis = 1 : i64, offset = 4 : i64, size = 2 : i64} : tensor<?x6xf32> -> tensor<?x2xf32>
  %source = seq.sigmoid %a : tensor<?x2xf32>
  %h = seq.reshape %p : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y, %n = seq.structured_recurrence %h source(%source) state(%s)
      : (tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<2x1x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x1x3xf32>)
  return %y, %n : tensor<?x2x3xf32>, tensor<2x1x3xf32>
}

// Keys and queries of more than one channel meet: a state of 4 x 3 stays a kernel.
// CHECK-LABEL: func.func @keys_meet
// CHECK: seq.kernel "linear"
// CHECK-NEXT: seq.linear
// CHECK-NEXT: seq.yield
// CHECK: seq.kernel "linear_attention"
func.func @keys_meet(%x: tensor<?x7xf32>, %q: tensor<?x2x4xf32>, %w: tensor<6x7xf32>, %s: tensor<2x4x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x4x3xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %p = seq.linear %x, %w : (tensor<?x7xf32>, tensor<6x7xf32>) -> tensor<?x6xf32>
  %h = seq.reshape %p : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y, %n = seq.linear_attention %q, %q, %h state(%s) {scale = 0.5 : f64}
      : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<2x4x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x4x3xf32>)
  return %y, %n : tensor<?x2x3xf32>, tensor<2x4x3xf32>
}

// More rows beside one another are a matrix, whose items own none: the recurrence has a
// kernel, but its numbers of heads need none. Who else reads the row has it still.
// HOST-LABEL: func.func @three_rows
// HOST: seq.kernel "linear"
// HOST: seq.kernel "embedding"
// HOST: seq.kernel "structured_recurrence"
// HOST-NOT: seq.embedding
// GPU-LABEL: func.func @three_rows
// GPU: %[[P:.*]] = seq.kernel "linear"
// GPU: %[[ROW:.*]] = seq.kernel "embedding"
// GPU: seq.kernel "structured_recurrence" (
// GPU-SAME: %[[N:[^ ]*]] = %{{[^ ]*}} : tensor<?xi32>, %[[TABLE:[^ ]*]] = %{{[^ ]*}} : tensor<5x7xf32>
// GPU-NEXT: seq.reshape
// GPU-NEXT: %[[OWN:.*]] = seq.embedding %[[N]], %[[TABLE]]
// GPU-NEXT: %[[BIAS:.*]] = seq.slice %[[OWN]] {axis = 1 : i64, offset = 4 : i64, size = 2 : i64}
// GPU-NEXT: seq.structured_recurrence {{.*}} bias(%[[BIAS]])
// GPU-NEXT: seq.yield
// GPU: seq.kernel "silu" ({{.*}} = %[[ROW]]
func.func @three_rows(%x: tensor<?x7xf32>, %numbers: tensor<?xi32>, %w: tensor<6x7xf32>, %table: tensor<5x7xf32>, %s: tensor<2x1x3xf32>) -> (tensor<?x2x3xf32>, tensor<?x4xf32>, tensor<2x1x3xf32>)
    attributes {seq.entry = #seq.entry<kind = decode, rows = 3>} {
  %p = seq.linear %x, %w : (tensor<?x7xf32>, tensor<6x7xf32>) -> tensor<?x6xf32>
  %row = seq.embedding %numbers, %table : (tensor<?xi32>, tensor<5x7xf32>) -> tensor<?x7xf32>
  %bias = seq.slice %row {axis = 1 : i64, offset = 4 : i64, size = 2 : i64} : tensor<?x7xf32> -> tensor<?x2xf32>
  %h = seq.reshape %p : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y, %n = seq.structured_recurrence %h bias(%bias) state(%s)
      : (tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<2x1x3xf32>) -> (tensor<?x2x3xf32>, tensor<2x1x3xf32>)
  %rest = seq.slice %row {axis = 1 : i64, offset = 0 : i64, size = 4 : i64} : tensor<?x7xf32> -> tensor<?x4xf32>
  %g = seq.silu %rest : tensor<?x4xf32>
  return %y, %g, %n : tensor<?x2x3xf32>, tensor<?x4xf32>, tensor<2x1x3xf32>
}
}
