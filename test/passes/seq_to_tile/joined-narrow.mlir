// RUN: effc-opt %s --seq-form-kernels --seq-narrow-results --convert-seq-to-tile 2>&1 | FileCheck %s

// What joins results is narrow, since a product that rounds it reads it: its parts
// are stored as it is, rows of 38 bf16 every 64 elements, the second from byte
// 13 * 2 = 26 on, where a library is not to begin.

// CHECK-DAG: remark: kernel 'concat' hands on result 0 as bf16: only products that round it read it
// CHECK-DAG: remark: stays with its kernel in prefill_64: y begins 26 bytes further on, no multiple of 16
// CHECK-LABEL: plan.entry @prefill_64
// CHECK: plan.launch @embedding_
// CHECK: %[[JOINED:.*]] = plan.arena bytes 8192
// CHECK: plan.launch @[[FIRST:linear_[0-9]+]]({{.*}}, %[[JOINED]]) {{.*}} flops 1040 product <{{.*}} y = bf16 every 64>
// CHECK: %[[PART:.*]] = plan.offset %[[JOINED]] by 26
// CHECK: plan.launch @[[SECOND:linear_[0-9]+]]({{.*}}, %[[PART]]) {{.*}} flops 2000{{$}}
// CHECK-NOT: @concat
// CHECK: plan.launch @[[READER:linear_[0-9]+]](%[[JOINED]],
// CHECK: tile.kernel @[[FIRST]](
// CHECK: tile.store {{.*}}<?x13xbf16, [64, 1]>
// CHECK: tile.kernel @[[SECOND]](
// CHECK: tile.store {{.*}}<?x25xbf16, [64, 1]>
// CHECK: tile.kernel @[[READER]](
// CHECK: tile.load {{.*}} : <?x38xbf16, [64, 1]>
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        library = true, vector = 32, registers = 255,
        step_rate = 60, dot_rate = 900, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x40xf32>
seq.weight @w source("w") : tensor<13x40xbf16>
seq.weight @v source("v") : tensor<25x40xbf16>
seq.weight @o source("o") : tensor<25x38xbf16>
func.func @prefill_64(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> (tensor<?x25xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 64>} {
  %table = seq.parameter @table : tensor<11x40xf32>
  %w = seq.parameter @w : tensor<13x40xbf16>
  %v = seq.parameter @v : tensor<25x40xbf16>
  %o = seq.parameter @o : tensor<25x38xbf16>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x40xf32>) -> tensor<?x40xf32>
  %a = seq.linear %x, %w : (tensor<?x40xf32>, tensor<13x40xbf16>) -> tensor<?x13xf32>
  %b = seq.linear %x, %v : (tensor<?x40xf32>, tensor<25x40xbf16>) -> tensor<?x25xf32>
  %j = seq.concat %a, %b {axis = 1 : i64} : (tensor<?x13xf32>, tensor<?x25xf32>) -> tensor<?x38xf32>
  %y = seq.linear %j, %o : (tensor<?x38xf32>, tensor<25x38xbf16>) -> tensor<?x25xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x25xf32>, tensor<?xi32>) -> tensor<?x25xf32>
  return %out : tensor<?x25xf32>
}
}
