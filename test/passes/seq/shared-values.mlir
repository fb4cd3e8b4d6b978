// RUN: effc-opt %s --seq-choose-forms -o /dev/null 2>&1 | FileCheck %s

// Values that are used twice stand for more terms than there are ops: 2^40 here, which
// no walk may take one by one.
#hk = affine_map<(h, k, v) -> (h, k)>
#hv = affine_map<(h, k, v) -> (h, v)>
#hkv = affine_map<(h, k, v) -> (h, k, v)>

module attributes {tile.target = #tile.target<host, bit_stable = true, vector = 8, registers = 16,
                                              step_rate = 16, dot_rate = 20, state_bytes = 32768>} {

// A value that is written, of a constant.
// CHECK: remark: form in prefill_48:
// CHECK-NOT: not linear
func.func @constants(%k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %m: tensor<6x3x5xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  %y, %next = seq.recurrence tokens(%kt = %k : tensor<?x6x3xf32>, %vt = %v : tensor<?x6x5xf32>) parameters()
      states(%mt = %m : tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>) {
    %z0 = seq.constant 0.001 : tensor<6x5xf32>
    %z1 = seq.add %z0, %z0 : tensor<6x5xf32>
    %z2 = seq.add %z1, %z1 : tensor<6x5xf32>
    %z3 = seq.add %z2, %z2 : tensor<6x5xf32>
    %z4 = seq.add %z3, %z3 : tensor<6x5xf32>
    %z5 = seq.add %z4, %z4 : tensor<6x5xf32>
    %z6 = seq.add %z5, %z5 : tensor<6x5xf32>
    %z7 = seq.add %z6, %z6 : tensor<6x5xf32>
    %z8 = seq.add %z7, %z7 : tensor<6x5xf32>
    %z9 = seq.add %z8, %z8 : tensor<6x5xf32>
    %z10 = seq.add %z9, %z9 : tensor<6x5xf32>
    %z11 = seq.add %z10, %z10 : tensor<6x5xf32>
    %z12 = seq.add %z11, %z11 : tensor<6x5xf32>
    %z13 = seq.add %z12, %z12 : tensor<6x5xf32>
    %z14 = seq.add %z13, %z13 : tensor<6x5xf32>
    %z15 = seq.add %z14, %z14 : tensor<6x5xf32>
    %z16 = seq.add %z15, %z15 : tensor<6x5xf32>
    %z17 = seq.add %z16, %z16 : tensor<6x5xf32>
    %z18 = seq.add %z17, %z17 : tensor<6x5xf32>
    %z19 = seq.add %z18, %z18 : tensor<6x5xf32>
    %z20 = seq.add %z19, %z19 : tensor<6x5xf32>
    %z21 = seq.add %z20, %z20 : tensor<6x5xf32>
    %z22 = seq.add %z21, %z21 : tensor<6x5xf32>
    %z23 = seq.add %z22, %z22 : tensor<6x5xf32>
    %z24 = seq.add %z23, %z23 : tensor<6x5xf32>
    %z25 = seq.add %z24, %z24 : tensor<6x5xf32>
    %z26 = seq.add %z25, %z25 : tensor<6x5xf32>
    %z27 = seq.add %z26, %z26 : tensor<6x5xf32>
    %z28 = seq.add %z27, %z27 : tensor<6x5xf32>
    %z29 = seq.add %z28, %z28 : tensor<6x5xf32>
    %z30 = seq.add %z29, %z29 : tensor<6x5xf32>
    %z31 = seq.add %z30, %z30 : tensor<6x5xf32>
    %z32 = seq.add %z31, %z31 : tensor<6x5xf32>
    %z33 = seq.add %z32, %z32 : tensor<6x5xf32>
    %z34 = seq.add %z33, %z33 : tensor<6x5xf32>
    %z35 = seq.add %z34, %z34 : tensor<6x5xf32>
    %z36 = seq.add %z35, %z35 : tensor<6x5xf32>
    %z37 = seq.add %z36, %z36 : tensor<6x5xf32>
    %z38 = seq.add %z37, %z37 : tensor<6x5xf32>
    %z39 = seq.add %z38, %z38 : tensor<6x5xf32>
    %z40 = seq.add %z39, %z39 : tensor<6x5xf32>
    %x = seq.add %z40, %vt : tensor<6x5xf32>
    %w = seq.contract %kt, %x {indexing_maps = [#hk, #hv, #hkv]} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %n = seq.add %mt, %w : tensor<6x3x5xf32>
    %r = seq.contract %kt, %n {indexing_maps = [#hk, #hkv, #hv]} : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    seq.yield %r, %n : tensor<6x5xf32>, tensor<6x3x5xf32>
  }
  return
}

// What is written, itself.
// CHECK: remark: fallback: form in prefill_48: step, since it is not linear: 'seq.add' adds more than 64 products
func.func @products(%k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %m: tensor<6x3x5xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  %y, %next = seq.recurrence tokens(%kt = %k : tensor<?x6x3xf32>, %vt = %v : tensor<?x6x5xf32>) parameters()
      states(%mt = %m : tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>) {
    %z0 = seq.contract %kt, %vt {indexing_maps = [#hk, #hv, #hkv]} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %z1 = seq.add %z0, %z0 : tensor<6x3x5xf32>
    %z2 = seq.add %z1, %z1 : tensor<6x3x5xf32>
    %z3 = seq.add %z2, %z2 : tensor<6x3x5xf32>
    %z4 = seq.add %z3, %z3 : tensor<6x3x5xf32>
    %z5 = seq.add %z4, %z4 : tensor<6x3x5xf32>
    %z6 = seq.add %z5, %z5 : tensor<6x3x5xf32>
    %z7 = seq.add %z6, %z6 : tensor<6x3x5xf32>
    %z8 = seq.add %z7, %z7 : tensor<6x3x5xf32>
    %z9 = seq.add %z8, %z8 : tensor<6x3x5xf32>
    %z10 = seq.add %z9, %z9 : tensor<6x3x5xf32>
    %z11 = seq.add %z10, %z10 : tensor<6x3x5xf32>
    %z12 = seq.add %z11, %z11 : tensor<6x3x5xf32>
    %z13 = seq.add %z12, %z12 : tensor<6x3x5xf32>
    %z14 = seq.add %z13, %z13 : tensor<6x3x5xf32>
    %z15 = seq.add %z14, %z14 : tensor<6x3x5xf32>
    %z16 = seq.add %z15, %z15 : tensor<6x3x5xf32>
    %z17 = seq.add %z16, %z16 : tensor<6x3x5xf32>
    %z18 = seq.add %z17, %z17 : tensor<6x3x5xf32>
    %z19 = seq.add %z18, %z18 : tensor<6x3x5xf32>
    %z20 = seq.add %z19, %z19 : tensor<6x3x5xf32>
    %z21 = seq.add %z20, %z20 : tensor<6x3x5xf32>
    %z22 = seq.add %z21, %z21 : tensor<6x3x5xf32>
    %z23 = seq.add %z22, %z22 : tensor<6x3x5xf32>
    %z24 = seq.add %z23, %z23 : tensor<6x3x5xf32>
    %z25 = seq.add %z24, %z24 : tensor<6x3x5xf32>
    %z26 = seq.add %z25, %z25 : tensor<6x3x5xf32>
    %z27 = seq.add %z26, %z26 : tensor<6x3x5xf32>
    %z28 = seq.add %z27, %z27 : tensor<6x3x5xf32>
    %z29 = seq.add %z28, %z28 : tensor<6x3x5xf32>
    %z30 = seq.add %z29, %z29 : tensor<6x3x5xf32>
    %z31 = seq.add %z30, %z30 : tensor<6x3x5xf32>
    %z32 = seq.add %z31, %z31 : tensor<6x3x5xf32>
    %z33 = seq.add %z32, %z32 : tensor<6x3x5xf32>
    %z34 = seq.add %z33, %z33 : tensor<6x3x5xf32>
    %z35 = seq.add %z34, %z34 : tensor<6x3x5xf32>
    %z36 = seq.add %z35, %z35 : tensor<6x3x5xf32>
    %z37 = seq.add %z36, %z36 : tensor<6x3x5xf32>
    %z38 = seq.add %z37, %z37 : tensor<6x3x5xf32>
    %z39 = seq.add %z38, %z38 : tensor<6x3x5xf32>
    %z40 = seq.add %z39, %z39 : tensor<6x3x5xf32>
    %n = seq.add %mt, %z40 : tensor<6x3x5xf32>
    %r = seq.contract %kt, %n {indexing_maps = [#hk, #hkv, #hv]} : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    seq.yield %r, %n : tensor<6x5xf32>, tensor<6x3x5xf32>
  }
  return
}
}
