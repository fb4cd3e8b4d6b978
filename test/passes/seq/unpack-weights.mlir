// RUN: effc-opt %s --seq-form-kernels --seq-unpack-weights > %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file %t.mlir
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: effc-opt %t.mlir --seq-unpack-weights 2> /dev/null | FileCheck %s
// RUN: sed 's/ rounded_to = bf16,/ rounded_to = f16,/' %s | effc-opt --seq-form-kernels --seq-unpack-weights 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=HALF
// RUN: sed 's/ rounded_to = bf16,//' %s | effc-opt --seq-form-kernels --seq-unpack-weights 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EXACT
// RUN: sed 's/ rounded_to = bf16,/ rounded_to = tf32,/' %s | effc-opt --seq-form-kernels --seq-unpack-weights 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EXACT

// HALF: narrow_to = f16
// EXACT-NOT: unpacked
// EXACT-NOT: narrow

!q8_0 = !storage.block<"q8_0", elements = 32, bytes = 34, digits = [32],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
module attributes {
    tile.target = #tile.target<nvptx, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 900, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<19x1024xf32>
seq.weight @up source("up") : tensor<1504x1024x!q8_0>
seq.weight @both source("both") : tensor<2112x1024x!q8_0>
seq.weight @small source("small") : tensor<40x1024x!q8_0>
seq.weight @blocks source("blocks") : tensor<16x672x64x!q8_0>
seq.weight @head source("head") : tensor<1600x1024x!q8_0>
seq.weight @hidden source("hidden") : tensor<192x1024x!q8_0>

// Two products with parts of a weight read what one kernel unpacks. Of few weights a launch
// costs more, and heads stay.
// CHECK-LABEL: func.func @prefill_704
// CHECK: %[[UP:.*]] = seq.parameter @up
// CHECK: %[[NARROW:.*]] = seq.kernel "up.weight" (%[[A:.*]] = %[[UP]] : tensor<1504x1024x!{{.*}}>) -> (tensor<1504x1024x!{{.*}}>) attributes {narrow = array<i64: 0>, narrow_to = bf16} {
// CHECK-NEXT: seq.yield %[[A]]
// CHECK: seq.kernel "up" (%{{.*}} = %{{.*}} : tensor<?x1024xf32>, %{{.*}} = %[[NARROW]] :
// CHECK: %[[BOTH:.*]] = seq.kernel "first.weight"
// CHECK: seq.kernel "first" ({{.*}} = %[[BOTH]] :
// CHECK-NOT: seq.kernel "second.weight"
// CHECK: seq.kernel "second" ({{.*}} = %[[BOTH]] :
// CHECK-NOT: .weight"
// CHECK-LABEL: func.func @decode_9
// REMARK-DAG: in prefill_704 a matrix in blocks is unpacked once, to bf16, and multiplied from there
// REMARK-DAG: in prefill_704 a matrix in blocks is unpacked by each item that reads it: of so few weights that takes less time
// REMARK-DAG: in prefill_704 a matrix in blocks is unpacked by each item that reads it: it is no single matrix
// REMARK-DAG: in prefill_704 a matrix in blocks is unpacked by each item that reads it: 'seq.lm_head' reads it for rows that are outputs
// REMARK-DAG: in prefill_704 a matrix in blocks is unpacked by each item that reads it: 'seq.expert_hidden' reads it for rows that tokens choose
func.func @prefill_704(%x: tensor<?x1024xf32>, %rows: tensor<?xi32>, %choices: tensor<?x2xi32>, %weights: tensor<?x2xf32>)
    -> (tensor<?x1600xf32>, tensor<?x1504xf32>, tensor<?x1408xf32>, tensor<?x704xf32>, tensor<?x40xf32>,
        tensor<?x16x672xf32>, tensor<?x2x24xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 704>} {
  %up = seq.parameter @up : tensor<1504x1024x!q8_0>
  %both = seq.parameter @both : tensor<2112x1024x!q8_0>
  %small = seq.parameter @small : tensor<40x1024x!q8_0>
  %blocks = seq.parameter @blocks : tensor<16x672x64x!q8_0>
  %head = seq.parameter @head : tensor<1600x1024x!q8_0>
  %hidden = seq.parameter @hidden : tensor<192x1024x!q8_0>
  %front = seq.slice %both {axis = 0 : i64, offset = 0 : i64, size = 1408 : i64} : tensor<2112x1024x!q8_0> -> tensor<1408x1024x!q8_0>
  %back = seq.slice %both {axis = 0 : i64, offset = 1408 : i64, size = 704 : i64} : tensor<2112x1024x!q8_0> -> tensor<704x1024x!q8_0>
  %u = seq.linear %x, %up : (tensor<?x1024xf32>, tensor<1504x1024x!q8_0>) -> tensor<?x1504xf32> loc("up")
  %a = seq.linear %x, %front : (tensor<?x1024xf32>, tensor<1408x1024x!q8_0>) -> tensor<?x1408xf32> loc("first")
  %b = seq.linear %x, %back : (tensor<?x1024xf32>, tensor<704x1024x!q8_0>) -> tensor<?x704xf32> loc("second")
  %s = seq.linear %x, %small : (tensor<?x1024xf32>, tensor<40x1024x!q8_0>) -> tensor<?x40xf32> loc("small")
  %parts = seq.reshape %x : tensor<?x1024xf32> -> tensor<?x16x64xf32>
  %p = seq.linear %parts, %blocks : (tensor<?x16x64xf32>, tensor<16x672x64x!q8_0>) -> tensor<?x16x672xf32> loc("parts")
  %h = seq.expert_hidden %x, %weights, %choices, %hidden {nonlinearity = #seq.nonlinearity<silu>} : (tensor<?x1024xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<192x1024x!q8_0>) -> tensor<?x2x24xf32> loc("hidden")
  %c = seq.select_rows %x, %rows : (tensor<?x1024xf32>, tensor<?xi32>) -> tensor<?x1024xf32> loc("select")
  %l = seq.lm_head %c, %head : (tensor<?x1024xf32>, tensor<1600x1024x!q8_0>) -> tensor<?x1600xf32> loc("head")
  return %l, %u, %a, %b, %s, %p, %h : tensor<?x1600xf32>, tensor<?x1504xf32>, tensor<?x1408xf32>, tensor<?x704xf32>, tensor<?x40xf32>,
      tensor<?x16x672xf32>, tensor<?x2x24xf32>
}

// Few rows have few items, each of which waits. A row or two are no matrix.
// CHECK: seq.kernel "up.weight"
// CHECK-NOT: .weight"
// CHECK-LABEL: func.func @decode_2
// CHECK-NOT: .weight"
// REMARK-DAG: in decode_9 a matrix in blocks is unpacked once, to bf16, and multiplied from there
// REMARK-DAG: in decode_9 a matrix in blocks is unpacked by each item that reads it: of so few weights that takes less time
// REMARK-DAG: in decode_2 a matrix in blocks is unpacked by each item that reads it: rows are few enough to be taken one by one
func.func @decode_9(%x: tensor<?x1024xf32>) -> (tensor<?x1504xf32>, tensor<?x40xf32>) attributes {seq.entry = #seq.entry<kind = decode, rows = 9>} {
  %up = seq.parameter @up : tensor<1504x1024x!q8_0>
  %small = seq.parameter @small : tensor<40x1024x!q8_0>
  %u = seq.linear %x, %up : (tensor<?x1024xf32>, tensor<1504x1024x!q8_0>) -> tensor<?x1504xf32> loc("up")
  %s = seq.linear %x, %small : (tensor<?x1024xf32>, tensor<40x1024x!q8_0>) -> tensor<?x40xf32> loc("small")
  return %u, %s : tensor<?x1504xf32>, tensor<?x40xf32>
}
func.func @decode_2(%x: tensor<?x1024xf32>) -> tensor<?x1504xf32> attributes {seq.entry = #seq.entry<kind = decode, rows = 2>} {
  %up = seq.parameter @up : tensor<1504x1024x!q8_0>
  %u = seq.linear %x, %up : (tensor<?x1024xf32>, tensor<1504x1024x!q8_0>) -> tensor<?x1504xf32> loc("up")
  return %u : tensor<?x1504xf32>
}
}
