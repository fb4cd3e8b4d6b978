// RUN: effc-opt %s --seq-form-kernels --seq-narrow-results 2> /dev/null | FileCheck %s
// RUN: sed 's/rounded_to = bf16/bit_stable = true, rounded_to = bf16/' %s | effc-opt --seq-form-kernels --seq-narrow-results 2> /dev/null \
// RUN:   | FileCheck %s --check-prefix=STABLE

module attributes {
    tile.target = #tile.target<nvptx, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255, step_rate = 60, dot_rate = 900, cores = 108, bandwidth = 1446, rereads = 1309>} {

// Values, keys and queries of a recurrence tolerate rounding, as do gates of its result.
// Of time steps decays are made, and the residual is a sum.

// CHECK-LABEL: func.func @prefill_6
// CHECK: seq.kernel "x" {{.*}} narrow_to = bf16, root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "dt" {{.*}} -> (tensor<?x2xf32>) attributes {root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "b" {{.*}} narrow_to = bf16, root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "ssd" {{.*}} -> (tensor<?x2x32xf32>, tensor<2x16x32xf32>) attributes {narrow = array<i64: 0>, narrow_to = bf16, root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "out" {{.*}} -> (tensor<?x48xf32>) attributes {root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "after" {{.*}} -> (tensor<?x48xf32>) attributes {root = {{[0-9]+}} : i64} {
// STABLE-LABEL: func.func @prefill_6
// STABLE: seq.kernel "x" {{.*}} -> (tensor<?x64xf32>) attributes {root = {{[0-9]+}} : i64} {
// STABLE: seq.kernel "ssd" {{.*}} -> (tensor<?x2x32xf32>, tensor<2x16x32xf32>) attributes {root = {{[0-9]+}} : i64} {
func.func @prefill_6(%u: tensor<?x48xf32>, %wx: tensor<64x48xbf16>, %wdt: tensor<2x48xbf16>, %wb: tensor<32x48xbf16>,
    %g: tensor<64xf32>, %wo: tensor<48x64xbf16>, %h: tensor<2xf32>, %s: tensor<2x16x32xf32>, %g2: tensor<48xf32>)
    -> (tensor<?x48xf32>, tensor<?x48xf32>, tensor<2x16x32xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 6>} {
  %x = seq.linear %u, %wx : (tensor<?x48xf32>, tensor<64x48xbf16>) -> tensor<?x64xf32> loc("x")
  %dt = seq.linear %u, %wdt : (tensor<?x48xf32>, tensor<2x48xbf16>) -> tensor<?x2xf32> loc("dt")
  %b = seq.linear %u, %wb : (tensor<?x48xf32>, tensor<32x48xbf16>) -> tensor<?x32xf32> loc("b")
  %heads = seq.reshape %x : tensor<?x64xf32> -> tensor<?x2x32xf32>
  %k = seq.reshape %b : tensor<?x32xf32> -> tensor<?x2x16xf32>
  %y, %next = seq.ssd %heads, %dt, %k, %k parameters(%h, %h, %h) state(%s)
      : (tensor<?x2x32xf32>, tensor<?x2xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>),
        (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>), tensor<2x16x32xf32> loc("ssd")
  %flat = seq.reshape %y : tensor<?x2x32xf32> -> tensor<?x64xf32>
  %n = seq.gated_rms_norm %flat, %x, %g {eps = 1.0e-5 : f64, groups = 1 : i64} : tensor<?x64xf32>, tensor<64xf32> loc("gated")
  %out = seq.linear %n, %wo : (tensor<?x64xf32>, tensor<48x64xbf16>) -> tensor<?x48xf32> loc("out")
  %r = seq.add %u, %out : tensor<?x48xf32>
  %after = seq.rms_norm %r, %g2 {eps = 1.0e-5 : f64} : tensor<?x48xf32>, tensor<48xf32> loc("after")
  return %r, %after, %next : tensor<?x48xf32>, tensor<?x48xf32>, tensor<2x16x32xf32>
}
}
