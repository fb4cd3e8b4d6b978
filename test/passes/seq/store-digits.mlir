// RUN: effc-opt %s --seq-store-digits > %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file %t.mlir
// RUN: FileCheck %s --input-file %t.remarks --check-prefix=REMARK
// RUN: effc-opt %t.mlir --seq-store-digits 2> /dev/null | FileCheck %s
// RUN: sed 's/ digits = 3,//' %s | effc-opt --seq-store-digits 2>&1 | FileCheck %s --check-prefix=ROWS

// ROWS-NOT: narrow
// ROWS-NOT: hands on

!q8_0 = !storage.block<"q8_0", elements = 32, bytes = 34, digits = [32],
  code = int [8 at 16 [8]], scale = [f16 [16 at 0 [0]]]>
module attributes {
    tile.target = #tile.target<host, bit_stable = true, digits = 3, vector = 8, registers = 16,
                               step_rate = 22, dot_rate = 18, state_bytes = 32768>} {

seq.weight @up source("up") panels : tensor<96x64x!q8_0>
seq.weight @down source("down") panels : tensor<64x96x!q8_0>
seq.weight @part source("part") panels : tensor<40x64x!q8_0>
seq.weight @half source("half") panels : tensor<24x32x!q8_0>
seq.weight @experts source("experts") panels : tensor<320x96x!q8_0>
seq.weight @wide source("wide") : tensor<8x64xf32>
seq.weight @order source("order") : tensor<64xf32>

// A norm goes to two products and a router: twice. A product goes to another: as digits
// alone, and so do channels in another order. What begins inside a block, or is read
// otherwise, is handed on as it is; a mixing over time writes no whole blocks.
// REMARK-DAG: kernel 'norm' hands on result 0 twice, as digits for the products that read it
// REMARK-DAG: kernel 'up' hands on result 0 as digits: only products read it
// REMARK-DAG: kernel 'order' hands on result 0 as digits: only products read it
// REMARK-DAG: kernel 'experts' hands on result 0 as digits: only products read it
// REMARK-DAG: kernel 'shift' hands on result 0 as it is: it writes no whole blocks of 32, so each product that reads it makes it digits
// REMARK-NOT: 'down'
// CHECK: %[[N:.*]]:2 = seq.kernel "norm" {{.*}} -> (tensor<?x64xf32>, tensor<?x64xf32>) attributes {narrow = array<i64: 1>, narrow_to = !storage.digits<3>, root = 0 : i64}
// CHECK: seq.yield %[[Y:.*]], %[[Y]] :
// CHECK: %[[U:.*]] = seq.kernel "up" (%{{.*}} = %[[N]]#1 : {{.*}} attributes {narrow = array<i64: 0>, narrow_to = !storage.digits<3>, root = 0 : i64}
// CHECK: seq.kernel "part" (%{{.*}} = %[[N]]#1 :
// CHECK: seq.kernel "router" (%{{.*}} = %[[N]]#0 :
// CHECK: %[[D:.*]] = seq.kernel "down" (%{{.*}} = %[[U]] : {{.*}} attributes {root = 0 : i64}
// CHECK: seq.kernel "inside" (%{{.*}} = %[[D]] :
// CHECK: seq.kernel "shift" {{.*}} attributes {root = 0 : i64}
func.func @prefill_5(%x: tensor<?x64xf32>, %g: tensor<64xf32>, %last: tensor<64xf32> {seq.state_name = "last"})
    -> (tensor<?x40xf32>, tensor<?x8xf32>, tensor<?x24xf32>, tensor<?x96xf32>, tensor<?x96xf32>, tensor<64xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 5>} {
  %order = seq.parameter @order : tensor<64xf32>
  %up = seq.parameter @up : tensor<96x64x!q8_0>
  %down = seq.parameter @down : tensor<64x96x!q8_0>
  %part = seq.parameter @part : tensor<40x64x!q8_0>
  %half = seq.parameter @half : tensor<24x32x!q8_0>
  %wide = seq.parameter @wide : tensor<8x64xf32>
  %n = seq.kernel "norm" (%a = %x : tensor<?x64xf32>, %b = %g : tensor<64xf32>) -> (tensor<?x64xf32>) attributes {root = 0 : i64} {
    %y = seq.rms_norm %a, %b {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<64xf32>
    seq.yield %y : tensor<?x64xf32>
  }
  %u = seq.kernel "up" (%a = %n : tensor<?x64xf32>, %b = %up : tensor<96x64x!q8_0>) -> (tensor<?x96xf32>) attributes {root = 0 : i64} {
    %y = seq.linear %a, %b : (tensor<?x64xf32>, tensor<96x64x!q8_0>) -> tensor<?x96xf32>
    seq.yield %y : tensor<?x96xf32>
  }
  %p = seq.kernel "part" (%a = %n : tensor<?x64xf32>, %b = %part : tensor<40x64x!q8_0>) -> (tensor<?x40xf32>) attributes {root = 0 : i64} {
    %y = seq.linear %a, %b : (tensor<?x64xf32>, tensor<40x64x!q8_0>) -> tensor<?x40xf32>
    seq.yield %y : tensor<?x40xf32>
  }
  %r = seq.kernel "router" (%a = %n : tensor<?x64xf32>, %b = %wide : tensor<8x64xf32>) -> (tensor<?x8xf32>) attributes {root = 0 : i64} {
    %y = seq.linear %a, %b : (tensor<?x64xf32>, tensor<8x64xf32>) -> tensor<?x8xf32>
    seq.yield %y : tensor<?x8xf32>
  }
  %d = seq.kernel "down" (%a = %u : tensor<?x96xf32>, %b = %down : tensor<64x96x!q8_0>) -> (tensor<?x64xf32>) attributes {root = 0 : i64} {
    %y = seq.linear %a, %b : (tensor<?x96xf32>, tensor<64x96x!q8_0>) -> tensor<?x64xf32>
    seq.yield %y : tensor<?x64xf32>
  }
  %i = seq.kernel "inside" (%a = %d : tensor<?x64xf32>, %b = %half : tensor<24x32x!q8_0>) -> (tensor<?x24xf32>) attributes {root = 1 : i64} {
    %s = seq.slice %a {axis = 1 : i64, offset = 16 : i64, size = 32 : i64} : tensor<?x64xf32> -> tensor<?x32xf32>
    %y = seq.linear %s, %b : (tensor<?x32xf32>, tensor<24x32x!q8_0>) -> tensor<?x24xf32>
    seq.yield %y : tensor<?x24xf32>
  }
  %s, %next = seq.kernel "shift" (%a = %x : tensor<?x64xf32>, %b = %last : tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) attributes {root = 0 : i64} {
    %y, %z = seq.token_shift %a state(%b) : tensor<?x64xf32>, tensor<64xf32>
    seq.yield %y, %z : tensor<?x64xf32>, tensor<64xf32>
  }
  %w = seq.kernel "shifted" (%a = %s : tensor<?x64xf32>, %b = %up : tensor<96x64x!q8_0>) -> (tensor<?x96xf32>) attributes {root = 0 : i64} {
    %y = seq.linear %a, %b : (tensor<?x64xf32>, tensor<96x64x!q8_0>) -> tensor<?x96xf32>
    seq.yield %y : tensor<?x96xf32>
  }
  %o = seq.kernel "order" (%a = %x : tensor<?x64xf32>, %b = %order : tensor<64xf32>) -> (tensor<?x64xf32>) attributes {root = 0 : i64} {
    %y = seq.permute_channels %a by %b : tensor<?x64xf32>, tensor<64xf32>
    seq.yield %y : tensor<?x64xf32>
  }
  %v = seq.kernel "ordered" (%a = %o : tensor<?x64xf32>, %b = %up : tensor<96x64x!q8_0>) -> (tensor<?x96xf32>) attributes {root = 0 : i64} {
    %y = seq.linear %a, %b : (tensor<?x64xf32>, tensor<96x64x!q8_0>) -> tensor<?x96xf32>
    seq.yield %y : tensor<?x96xf32>
  }
  return %p, %r, %i, %w, %v, %next : tensor<?x40xf32>, tensor<?x8xf32>, tensor<?x24xf32>, tensor<?x96xf32>, tensor<?x96xf32>, tensor<64xf32>
}

// A sum of 2 of 5 experts, whose rows are panels of their own.
// CHECK: func.func @prefill_7
// CHECK: %[[E:.*]] = seq.kernel "experts" {{.*}} attributes {narrow = array<i64: 0>, narrow_to = !storage.digits<3>, root = 0 : i64}
// CHECK: seq.kernel "mix" (%{{.*}} = %[[E]] :
func.func @prefill_7(%h: tensor<?x2x96xf32>, %r: tensor<?x2xi32>) -> tensor<?x96xf32>
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 7>} {
  %experts = seq.parameter @experts : tensor<320x96x!q8_0>
  %up = seq.parameter @up : tensor<96x64x!q8_0>
  %e = seq.kernel "experts" (%a = %h : tensor<?x2x96xf32>, %b = %r : tensor<?x2xi32>, %c = %experts : tensor<320x96x!q8_0>) -> (tensor<?x64xf32>) attributes {root = 0 : i64} {
    %y = seq.expert_output %a, %b, %c : (tensor<?x2x96xf32>, tensor<?x2xi32>, tensor<320x96x!q8_0>) -> tensor<?x64xf32>
    seq.yield %y : tensor<?x64xf32>
  }
  %m = seq.kernel "mix" (%a = %e : tensor<?x64xf32>, %b = %up : tensor<96x64x!q8_0>) -> (tensor<?x96xf32>) attributes {root = 0 : i64} {
    %y = seq.linear %a, %b : (tensor<?x64xf32>, tensor<96x64x!q8_0>) -> tensor<?x96xf32>
    seq.yield %y : tensor<?x96xf32>
  }
  return %m : tensor<?x96xf32>
}
}
