// RUN: effc-opt %s --convert-seq-to-tile --verify-diagnostics | FileCheck %s
// RUN: sed 's/library = true, //' %s | effc-opt --convert-seq-to-tile | FileCheck %s --check-prefix=NONE
// RUN: sed s/bf16/f16/g %s > %t.f16.mlir && effc-opt %t.f16.mlir --convert-seq-to-tile --verify-diagnostics | FileCheck %t.f16.mlir

// Of many rows a product of bf16 (or f16) that is a kernel by itself is marked; rows of 40
// bf16 lie 64 elements apart, of 24 f32 32.

// NONE-NOT: product <
// CHECK-LABEL: plan.entry @prefill_64
// CHECK: plan.launch @linear_{{.*}} note "alone" flops 1920 product <outputs = 24, inner = 40, x = bf16 every 64, w = bf16 every 64, y = f32 every 32>
// CHECK-NOT: product <
module attributes {seq.state_layout = #seq.state_layout<slot_bytes = 0, states = []>,
    tile.target = #tile.target<nvptx, rounded_to = bf16, block = <threads = 256, shared_bytes = 166912>,
        core = <registers = 65536, memory = 500, barrier = 50, product = 33, launch = 2500, schedulers = 4>,
        library = true, vector = 32, registers = 255,
        step_rate = 60, dot_rate = 900, cores = 108, bandwidth = 1446, rereads = 1309>} {
seq.weight @table source("table") : tensor<11x40xf32>
seq.weight @w source("w") : tensor<24x40xbf16>
seq.weight @v source("v") : tensor<24x40xf32>
seq.weight @b source("b") : tensor<24xf32>
func.func @prefill_64(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> (tensor<?x24xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 64>} {
  %table = seq.parameter @table : tensor<11x40xf32>
  %w = seq.parameter @w : tensor<24x40xbf16>
  %v = seq.parameter @v : tensor<24x40xf32>
  %b = seq.parameter @b : tensor<24xf32>
  %x = seq.kernel "embedding" (%i = %tokens : tensor<?xi32>, %t = %table : tensor<11x40xf32>)
      -> (tensor<?x40xf32>) attributes {root = 0 : i64} {
    %e = seq.embedding %i, %t : (tensor<?xi32>, tensor<11x40xf32>) -> tensor<?x40xf32>
    seq.yield %e : tensor<?x40xf32>
  }
  %n = seq.kernel "narrow" (%a = %x : tensor<?x40xf32>) -> (tensor<?x40xf32>)
      attributes {narrow = array<i64: 0>, narrow_to = bf16} {
    %e = seq.tanh %a : tensor<?x40xf32>
    seq.yield %e : tensor<?x40xf32>
  }
  // expected-remark @+1 {{goes to cuBLASLt in prefill_64}}
  %alone = seq.kernel "alone" (%a = %n : tensor<?x40xf32>, %m = %w : tensor<24x40xbf16>)
      -> (tensor<?x24xf32>) attributes {root = 0 : i64} {
    %p = seq.linear %a, %m : (tensor<?x40xf32>, tensor<24x40xbf16>) -> tensor<?x24xf32>
    seq.yield %p : tensor<?x24xf32>
  }
  // expected-remark @+1 {{stays with its kernel in prefill_64: its kernel does 'seq.add' as well}}
  %added = seq.kernel "added" (%a = %n : tensor<?x40xf32>, %m = %w : tensor<24x40xbf16>,
                               %r = %alone : tensor<?x24xf32>) -> (tensor<?x24xf32>) attributes {root = 0 : i64} {
    %p = seq.linear %a, %m : (tensor<?x40xf32>, tensor<24x40xbf16>) -> tensor<?x24xf32>
    %s = seq.add %p, %r : tensor<?x24xf32>
    seq.yield %s : tensor<?x24xf32>
  }
  // expected-remark @+1 {{stays with its kernel in prefill_64: it adds a bias}}
  %biased = seq.kernel "biased" (%a = %n : tensor<?x40xf32>, %m = %w : tensor<24x40xbf16>,
                                 %c = %b : tensor<24xf32>) -> (tensor<?x24xf32>) attributes {root = 0 : i64} {
    %p = seq.linear %a, %m bias(%c) : (tensor<?x40xf32>, tensor<24x40xbf16>, tensor<24xf32>) -> tensor<?x24xf32>
    seq.yield %p : tensor<?x24xf32>
  }
  // expected-remark @+1 {{stays with its kernel in prefill_64: w is f32 in memory}}
  %exact = seq.kernel "exact" (%a = %n : tensor<?x40xf32>, %m = %v : tensor<24x40xf32>)
      -> (tensor<?x24xf32>) attributes {root = 0 : i64} {
    %p = seq.linear %a, %m : (tensor<?x40xf32>, tensor<24x40xf32>) -> tensor<?x24xf32>
    seq.yield %p : tensor<?x24xf32>
  }
  // expected-remark @+1 {{stays with its kernel in prefill_64: x is f32 in memory}}
  %wide = seq.kernel "wide" (%a = %x : tensor<?x40xf32>, %m = %w : tensor<24x40xbf16>)
      -> (tensor<?x24xf32>) attributes {root = 0 : i64} {
    %p = seq.linear %a, %m : (tensor<?x40xf32>, tensor<24x40xbf16>) -> tensor<?x24xf32>
    seq.yield %p : tensor<?x24xf32>
  }
  %sum = seq.kernel "sum" (%a = %added : tensor<?x24xf32>, %c = %biased : tensor<?x24xf32>,
                           %d = %exact : tensor<?x24xf32>, %e = %wide : tensor<?x24xf32>)
      -> (tensor<?x24xf32>) {
    %s = seq.add %a, %c : tensor<?x24xf32>
    %t = seq.add %s, %d : tensor<?x24xf32>
    %u = seq.add %t, %e : tensor<?x24xf32>
    seq.yield %u : tensor<?x24xf32>
  }
  %out = seq.kernel "rows" (%a = %sum : tensor<?x24xf32>, %r = %rows : tensor<?xi32>)
      -> (tensor<?x24xf32>) attributes {root = 0 : i64} {
    %o = seq.select_rows %a, %r : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    seq.yield %o : tensor<?x24xf32>
  }
  return %out : tensor<?x24xf32>
}
}
