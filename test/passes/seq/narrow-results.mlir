// RUN: sed 's/bit_stable = true, //' %s | effc-opt --seq-form-kernels --seq-narrow-results > %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file %t.mlir --check-prefixes=CHECK,TOLERATED
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: effc-opt %s --seq-form-kernels --seq-narrow-results 2> %t.stable \
// RUN:   | FileCheck %s --check-prefix=STABLE
// RUN: sed 's/ rounded_to = bf16,//' %s | effc-opt --seq-form-kernels --seq-narrow-results \
// RUN:   2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: sed 's/rounded_to = bf16/rounded_to = tf32/' %s | effc-opt --seq-form-kernels --seq-narrow-results \
// RUN:   2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: sed -e s/bf16/f16/g -e 's/bit_stable = true, //' %s > %t.f16.mlir && effc-opt %t.f16.mlir --seq-form-kernels --seq-narrow-results \
// RUN:   2> /dev/null | FileCheck %t.f16.mlir --check-prefixes=CHECK,WIDE

// Where no product rounds, nothing is narrow; nor is a tf32.
// EXACT-NOT: narrow
// EXACT-NOT: hands on

module attributes {
    tile.target = #tile.target<nvptx, bit_stable = true, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        vector = 32, registers = 255,
                               step_rate = 60, dot_rate = 900, cores = 108, bandwidth = 1446, rereads = 1309>} {

// Two products read the norm. What `up` gives is read by two in slices, of which the
// second begins at 32 x 2 = 64 bytes; that of `down` would begin at 16 x 2. A norm, which
// tolerates rounding, reads what `low` gives as well; where bits have to be the same, and
// in f16, which has no numbers beyond 65504, that stays f32. A product of 15 terms rounds nothing, and what the function returns nobody
// here reads.

// CHECK-LABEL: func.func @prefill_5
// CHECK: seq.kernel "norm" {{.*}} -> (tensor<?x48xf32>) attributes {narrow = array<i64: 0>, narrow_to = bf16, root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "up" {{.*}} -> (tensor<?x64xf32>) attributes {narrow = array<i64: 0>, narrow_to = bf16, root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "down" {{.*}} -> (tensor<?x80xf32>) attributes {root = {{[0-9]+}} : i64} {
// TOLERATED: seq.kernel "low" {{.*}} -> (tensor<?x24xf32>) attributes {narrow = array<i64: 0>, narrow_to = bf16, root = {{[0-9]+}} : i64} {
// WIDE: seq.kernel "low" {{.*}} -> (tensor<?x24xf32>) attributes {root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "high" {{.*}} -> (tensor<?x15xf32>) attributes {root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "late" {{.*}} -> (tensor<?x56xf32>) attributes {root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "few" {{.*}} -> (tensor<?x24xf32>) attributes {root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "both" {{.*}} -> (tensor<?x24xf32>) attributes {root = {{[0-9]+}} : i64} {
// CHECK: seq.kernel "second" {{.*}} -> (tensor<?x24xf32>) attributes {root = {{[0-9]+}} : i64} {
// REMARK: kernel 'norm' hands on result 0 as bf16: only products that round it read it
// REMARK: kernel 'up' hands on result 0 as bf16: only products that round it read it
// REMARK: kernel 'down' hands on result 0 as f32: what reads it begins at element 16, which as bf16 is no multiple of 64 bytes
// REMARK: kernel 'low' hands on result 0 as bf16: all that reads it tolerates rounding
// STABLE-LABEL: func.func @prefill_5
// STABLE: seq.kernel "norm" {{.*}} narrow_to = bf16, root = {{[0-9]+}} : i64} {
// STABLE: seq.kernel "low" {{.*}} -> (tensor<?x24xf32>) attributes {root = {{[0-9]+}} : i64} {
func.func @prefill_5(
    %x: tensor<?x48xf32>, %g: tensor<48xf32>, %w0: tensor<64x48xbf16>, %w1: tensor<80x48xf32>,
    %w2: tensor<24x32xbf16>, %w3: tensor<15x32xbf16>, %w4: tensor<56x64xbf16>,
    %w5: tensor<24x15xbf16>, %w6: tensor<24x24xbf16>, %g2: tensor<24xf32>)
    -> (tensor<?x56xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 5>} {
  %n = seq.rms_norm %x, %g {eps = 1.0e-5 : f64} : tensor<?x48xf32>, tensor<48xf32> loc("norm")
  %up = seq.linear %n, %w0 : (tensor<?x48xf32>, tensor<64x48xbf16>) -> tensor<?x64xf32> loc("up")
  %down = seq.linear %n, %w1 : (tensor<?x48xf32>, tensor<80x48xf32>) -> tensor<?x80xf32> loc("down")
  %a = seq.slice %up {axis = 1 : i64, offset = 0 : i64, size = 32 : i64} : tensor<?x64xf32> -> tensor<?x32xf32>
  %b = seq.slice %up {axis = 1 : i64, offset = 32 : i64, size = 32 : i64} : tensor<?x64xf32> -> tensor<?x32xf32>
  %c = seq.slice %down {axis = 1 : i64, offset = 16 : i64, size = 64 : i64} : tensor<?x80xf32> -> tensor<?x64xf32>
  %low = seq.linear %a, %w2 : (tensor<?x32xf32>, tensor<24x32xbf16>) -> tensor<?x24xf32> loc("low")
  %high = seq.linear %b, %w3 : (tensor<?x32xf32>, tensor<15x32xbf16>) -> tensor<?x15xf32> loc("high")
  %late = seq.linear %c, %w4 : (tensor<?x64xf32>, tensor<56x64xbf16>) -> tensor<?x56xf32> loc("late")
  %few = seq.linear %high, %w5 : (tensor<?x15xf32>, tensor<24x15xbf16>) -> tensor<?x24xf32> loc("few")
  %both = seq.linear %low, %w6 : (tensor<?x24xf32>, tensor<24x24xbf16>) -> tensor<?x24xf32> loc("both")
  %second = seq.rms_norm %low, %g2 {eps = 1.0e-5 : f64} : tensor<?x24xf32>, tensor<24xf32> loc("second")
  return %late, %few, %both, %second : tensor<?x56xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>
}

// The second of two results, read as 2 blocks of 16 channels. An elementwise op reads
// the first.

// CHECK-LABEL: func.func @prefill_7
// CHECK: seq.kernel "pair" {{.*}} -> (tensor<?x32xf32>, tensor<?x32xf32>) attributes {narrow = array<i64: 1>, narrow_to = bf16} {
// REMARK: kernel 'pair' hands on result 1 as bf16
// REMARK-NOT: 'pair'
func.func @prefill_7(%x: tensor<?x32xf32>, %w: tensor<2x20x16xbf16>)
    -> (tensor<?x2x20xf32>, tensor<?x32xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 7>} {
  %pair:2 = seq.kernel "pair" (%in = %x : tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
    %p = seq.silu %in : tensor<?x32xf32>
    %q = seq.neg %in : tensor<?x32xf32>
    seq.yield %p, %q : tensor<?x32xf32>, tensor<?x32xf32>
  }
  %blocks = seq.reshape %pair#1 : tensor<?x32xf32> -> tensor<?x2x16xf32>
  %y = seq.linear %blocks, %w : (tensor<?x2x16xf32>, tensor<2x20x16xbf16>) -> tensor<?x2x20xf32> loc("blocks")
  %z = seq.exp %pair#0 : tensor<?x32xf32> loc("exp")
  return %y, %z : tensor<?x2x20xf32>, tensor<?x32xf32>
}

// No tensor core multiplies a single row, unless it has to have the bits that it
// has among others.

// CHECK-LABEL: func.func @decode_1
// CHECK: seq.kernel "alone" {{.*}} -> (tensor<?x48xf32>) {
// REMARK-NOT: 'alone'
// STABLE-LABEL: func.func @decode_1
// STABLE: seq.kernel "alone" {{.*}} -> (tensor<?x48xf32>) attributes {narrow = array<i64: 0>, narrow_to = bf16} {
func.func @decode_1(%x: tensor<?x48xf32>, %w: tensor<40x48xbf16>) -> tensor<?x40xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 1>} {
  %n = seq.tanh %x : tensor<?x48xf32> loc("alone")
  %y = seq.linear %n, %w : (tensor<?x48xf32>, tensor<40x48xbf16>) -> tensor<?x40xf32> loc("head")
  return %y : tensor<?x40xf32>
}

// Of three rows it does.

// CHECK-LABEL: func.func @decode_3
// CHECK: seq.kernel "together" {{.*}} -> (tensor<?x48xf32>) attributes {narrow = array<i64: 0>, narrow_to = bf16} {
// REMARK: kernel 'together' hands on result 0 as bf16
func.func @decode_3(%x: tensor<?x48xf32>, %w: tensor<40x48xbf16>) -> tensor<?x40xf32>
    attributes {seq.entry = #seq.entry<kind = decode, rows = 3>} {
  %n = seq.tanh %x : tensor<?x48xf32> loc("together")
  %y = seq.linear %n, %w : (tensor<?x48xf32>, tensor<40x48xbf16>) -> tensor<?x40xf32> loc("head")
  return %y : tensor<?x40xf32>
}
}
