// RUN: effc-opt %s --seq-split-products 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: sed 's/rounded_to = bf16/bit_stable = true, rounded_to = bf16/' %s | effc-opt --seq-split-products | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/ rounded_to = bf16,//' %s | effc-opt --seq-split-products | FileCheck %s --check-prefix=WHOLE

// Where bits have to be the same, or nothing is rounded, nothing is split.
// WHOLE-NOT: tensor<2x48xbf16>

module attributes {
    tile.target = #tile.target<nvptx, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 900, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @w source("w") : tensor<98x48xbf16>
seq.weight @few source("few") : tensor<4x48xbf16>
seq.weight @out source("out") : tensor<9x2xbf16>

// Values and keys, 96 outputs, are multiplied; time steps, two outputs, are not.
// CHECK-LABEL: func.func @prefill_882
// CHECK: %[[W:.*]] = seq.parameter @w
// CHECK: %[[FRONT:.*]] = seq.slice %[[W]] {axis = 0 : i64, offset = 0 : i64, size = 96 : i64} : tensor<98x48xbf16> -> tensor<96x48xbf16>
// CHECK: %[[P:.*]] = seq.linear %{{.*}}, %[[FRONT]] : (tensor<?x48xf32>, tensor<96x48xbf16>) -> tensor<?x96xf32>
// CHECK: %[[BACK:.*]] = seq.slice %[[W]] {axis = 0 : i64, offset = 96 : i64, size = 2 : i64} : tensor<98x48xbf16> -> tensor<2x48xbf16>
// CHECK: %[[DT:.*]] = seq.linear %{{.*}}, %[[BACK]] : (tensor<?x48xf32>, tensor<2x48xbf16>) -> tensor<?x2xf32>
// CHECK: seq.slice %[[P]] {axis = 1 : i64, offset = 0 : i64, size = 64 : i64} : tensor<?x96xf32> -> tensor<?x64xf32>
// CHECK: seq.slice %[[P]] {axis = 1 : i64, offset = 64 : i64, size = 32 : i64} : tensor<?x96xf32> -> tensor<?x32xf32>
// CHECK: seq.slice %[[DT]] {axis = 1 : i64, offset = 0 : i64, size = 2 : i64} : tensor<?x2xf32> -> tensor<?x2xf32>
// REMARK: split in front of output 96: the 2 outputs from there on do not tolerate rounding, all before do
func.func @prefill_882(%u: tensor<?x48xf32>, %h: tensor<2xf32>, %s: tensor<2x16x32xf32>)
    -> (tensor<?x2x32xf32>, tensor<2x16x32xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 882>} {
  %w = seq.parameter @w : tensor<98x48xbf16>
  %p = seq.linear %u, %w : (tensor<?x48xf32>, tensor<98x48xbf16>) -> tensor<?x98xf32> loc("p")
  %x = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 64 : i64} : tensor<?x98xf32> -> tensor<?x64xf32>
  %b = seq.slice %p {axis = 1 : i64, offset = 64 : i64, size = 32 : i64} : tensor<?x98xf32> -> tensor<?x32xf32>
  %dt = seq.slice %p {axis = 1 : i64, offset = 96 : i64, size = 2 : i64} : tensor<?x98xf32> -> tensor<?x2xf32>
  %heads = seq.reshape %x : tensor<?x64xf32> -> tensor<?x2x32xf32>
  %k = seq.reshape %b : tensor<?x32xf32> -> tensor<?x2x16xf32>
  %y, %next = seq.ssd %heads, %dt, %k, %k parameters(%h, %h, %h) state(%s)
      : (tensor<?x2x32xf32>, tensor<?x2xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x16x32xf32> loc("ssd")
  return %y, %next : tensor<?x2x32xf32>, tensor<2x16x32xf32>
}

// Of few rows a launch more would take longer.
// CHECK-LABEL: func.func @prefill_881
// CHECK: seq.linear %{{.*}} -> tensor<?x98xf32>
func.func @prefill_881(%u: tensor<?x48xf32>) -> (tensor<?x9xf32>, tensor<?x2xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 881>} {
  %w = seq.parameter @w : tensor<98x48xbf16>
  %out = seq.parameter @out : tensor<9x2xbf16>
  %p = seq.linear %u, %w : (tensor<?x48xf32>, tensor<98x48xbf16>) -> tensor<?x98xf32> loc("p")
  %x = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 2 : i64} : tensor<?x98xf32> -> tensor<?x2xf32>
  %b = seq.slice %p {axis = 1 : i64, offset = 96 : i64, size = 2 : i64} : tensor<?x98xf32> -> tensor<?x2xf32>
  %y = seq.linear %x, %out : (tensor<?x2xf32>, tensor<9x2xbf16>) -> tensor<?x9xf32>
  %e = seq.exp %b : tensor<?x2xf32>
  return %y, %e : tensor<?x9xf32>, tensor<?x2xf32>
}

// Half of the outputs do not tolerate rounding: too many.
// CHECK-LABEL: func.func @prefill_2048
// CHECK: seq.linear %{{.*}} -> tensor<?x4xf32>
func.func @prefill_2048(%u: tensor<?x48xf32>) -> (tensor<?x9xf32>, tensor<?x2xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 2048>} {
  %w = seq.parameter @few : tensor<4x48xbf16>
  %out = seq.parameter @out : tensor<9x2xbf16>
  %p = seq.linear %u, %w : (tensor<?x48xf32>, tensor<4x48xbf16>) -> tensor<?x4xf32> loc("p")
  %x = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 2 : i64} : tensor<?x4xf32> -> tensor<?x2xf32>
  %b = seq.slice %p {axis = 1 : i64, offset = 2 : i64, size = 2 : i64} : tensor<?x4xf32> -> tensor<?x2xf32>
  %y = seq.linear %x, %out : (tensor<?x2xf32>, tensor<9x2xbf16>) -> tensor<?x9xf32>
  %e = seq.exp %b : tensor<?x2xf32>
  return %y, %e : tensor<?x9xf32>, tensor<?x2xf32>
}
}
