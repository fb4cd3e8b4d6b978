// RUN: effc-opt %s --seq-choose-forms 2>&1 | FileCheck %s

// Chunks follow one another, so that on a GPU fewer of them are worth more products. Heads
// of 128 x 64 without decay, exact products: of 16 tokens a token takes
//   (4 * 8192 + 16 * (128 + 64) + 16 * 40) / 300 = 122 cycles
//     and waits for (1000 + 2 * 9 * 6 * 33) / 16 = 285,
// of 64 tokens 158 and 90. Heads of 256 channels have registers for chunks of 32, and
// of corrections for 16.
// CHECK: remark: form in prefill_64: chunkwise of 64, {{[0-9]+}} cycles per token and head; others would take {{[0-9]+}} (step), 407 (chunkwise of 16), {{[0-9]+}} (chunkwise of 32)
// CHECK: remark: form in prefill_64: chunkwise of 32, {{[0-9]+}} cycles per token and head; {{.*}} (chunkwise of 64, if asked for)
// CHECK: remark: form in prefill_64: chunkwise of 16, {{[0-9]+}} cycles per token and head; {{.*}} (chunkwise of 32, if asked for), {{[0-9]+}} (chunkwise of 64, if asked for)

module attributes {tile.target = #tile.target<nvptx, block = <threads = 256, shared_bytes = 166912>,
    core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
    vector = 32, registers = 255, step_rate = 60,
                                              dot_rate = 300, cores = 108, bandwidth = 1446, rereads = 1309>} {
// CHECK-LABEL: func.func @prefill_64
func.func @prefill_64(%q: tensor<?x2x128xf32>, %v: tensor<?x2x64xf32>, %b: tensor<?x2xf32>, %s: tensor<2x128x64xf32>,
                      %k: tensor<?x2x256xf32>, %m: tensor<2x256x64xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 64>} {
  // CHECK: seq.linear_attention {{.*}}form = #seq.form<kind = chunkwise, chunk = 64>
  %y, %next = seq.linear_attention %q, %q, %v   state(%s)
      : (tensor<?x2x128xf32>, tensor<?x2x128xf32>, tensor<?x2x64xf32>, tensor<2x128x64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2x128x64xf32>)
  // CHECK: seq.linear_attention {{.*}}form = #seq.form<kind = chunkwise, chunk = 32>
  %z, %last = seq.linear_attention %k, %k, %v   state(%m)
      : (tensor<?x2x256xf32>, tensor<?x2x256xf32>, tensor<?x2x64xf32>, tensor<2x256x64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2x256x64xf32>)
  // CHECK: seq.delta_rule {{.*}}form = #seq.form<kind = chunkwise, chunk = 16>
  %x, %rest = seq.delta_rule %q, %q, %v, %b state(%s)
      : (tensor<?x2x128xf32>, tensor<?x2x128xf32>, tensor<?x2x64xf32>, tensor<?x2xf32>, tensor<2x128x64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2x128x64xf32>)
  return
}
}
