// RUN: effc-opt %s --seq-split-steps 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: effc-opt %s --seq-split-steps --seq-split-steps 2>/dev/null | FileCheck %s
// RUN: effc-opt %s --seq-choose-forms 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: effc-opt %s --seq-choose-forms=force=step 2>&1 | FileCheck %s --check-prefix=ASKED

#h = affine_map<(h, k, v) -> (h)>
#hk = affine_map<(h, k, v) -> (h, k)>
#hv = affine_map<(h, k, v) -> (h, v)>
#hkv = affine_map<(h, k, v) -> (h, k, v)>

module attributes {tile.target = #tile.target<host, bit_stable = true, vector = 8, registers = 16,
                                              step_rate = 16, dot_rate = 20, state_bytes = 32768>} {

// The key before is a state: a shift, and one recurrence of one state.
// REMARK: remark: state 'last' is the token before: a token shift of its own
// CHECK-LABEL: func.func @shift
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<?x6x3xf32>, %[[V:[a-z0-9]*]]: tensor<?x6x5xf32>, %[[L:[a-z0-9]*]]: tensor<6x3xf32>
// CHECK: %[[P:.*]], %[[LAST:.*]] = seq.token_shift %[[K]] state(%[[L]])
// CHECK: %[[Y:.*]], %[[NEXT:.*]] = seq.recurrence tokens(%[[KT:.*]] = %[[K]] : {{.*}}, %[[VT:.*]] = %[[V]] : {{.*}}, %[[PT:.*]] = %[[P]] : tensor<?x6x3xf32>) parameters() states(%[[S:.*]] = %{{.*}} : tensor<6x3x5xf32>)
// CHECK: %[[KEY:.*]] = seq.add %[[KT]], %[[PT]]
// CHECK: seq.contract %[[KEY]], %[[VT]]
// CHECK: return %[[Y]], %[[LAST]], %[[NEXT]]
func.func @shift(%k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %l: tensor<6x3xf32> {seq.state_name = "last"},
                 %m: tensor<6x3x5xf32> {seq.state_name = "matrix"}) -> (tensor<?x6x5xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>) {
  %y, %last, %next = seq.recurrence tokens(%kt = %k : tensor<?x6x3xf32>, %vt = %v : tensor<?x6x5xf32>) parameters()
      states(%lt = %l : tensor<6x3xf32>, %mt = %m : tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>), (tensor<6x3xf32>, tensor<6x3x5xf32>) {
    %key = seq.add %kt, %lt : tensor<6x3xf32>
    %w = seq.contract %key, %vt {indexing_maps = [#hk, #hv, #hkv]} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %n = seq.add %mt, %w : tensor<6x3x5xf32>
    %r = seq.contract %kt, %n {indexing_maps = [#hk, #hkv, #hv]} : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    seq.yield %r, %kt, %n : tensor<6x5xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>
  }
  return %y, %last, %next : tensor<?x6x5xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>
}

// What is read of one matrix is written into another.
// REMARK: remark: state #0 follows from no other state: a recurrence of its own
// CHECK-LABEL: func.func @chain
// CHECK: %[[R:.*]], %[[NEAR:.*]] = seq.recurrence tokens({{.*}}) parameters() states(%{{.*}} = %{{.*}} : tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>)
// CHECK: seq.yield
// CHECK: %[[Y:.*]], %[[FAR:.*]] = seq.recurrence tokens(%{{.*}} = %{{.*}} : tensor<?x6x3xf32>, %[[RT:.*]] = %[[R]] : tensor<?x6x5xf32>) parameters() states(
// CHECK: seq.contract %{{.*}}, %[[RT]]
// CHECK: return %[[Y]], %[[NEAR]], %[[FAR]]
func.func @chain(%k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %a: tensor<6x3x5xf32>, %b: tensor<6x3x5xf32>)
    -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>) {
  %y, %near, %far = seq.recurrence tokens(%kt = %k : tensor<?x6x3xf32>, %vt = %v : tensor<?x6x5xf32>) parameters()
      states(%at = %a : tensor<6x3x5xf32>, %bt = %b : tensor<6x3x5xf32>) -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>, tensor<6x3x5xf32>) {
    %w = seq.contract %kt, %vt {indexing_maps = [#hk, #hv, #hkv]} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %n = seq.add %at, %w : tensor<6x3x5xf32>
    %r = seq.contract %kt, %n {indexing_maps = [#hk, #hkv, #hv]} : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    %w2 = seq.contract %kt, %r {indexing_maps = [#hk, #hv, #hkv]} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %n2 = seq.add %bt, %w2 : tensor<6x3x5xf32>
    %r2 = seq.contract %kt, %n2 {indexing_maps = [#hk, #hkv, #hv]} : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    seq.yield %r2, %n, %n2 : tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>
  }
  return %y, %near, %far : tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>
}

// A sum of keys that decays as the matrix does is part of one linear recurrence: nothing is taken off.
// CHECK-LABEL: func.func @prefill_sum
// CHECK: states(%{{.*}} = %{{.*}} : tensor<6x3x5xf32>, %{{.*}} = %{{.*}} : tensor<6x3xf32>)
// WHOLE: remark: form in prefill_48: step, the one form with a kernel for 'normaliser = key_sum'
func.func @prefill_sum(%k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %f: tensor<?x6xf32>, %m: tensor<6x3x5xf32>, %s: tensor<6x3xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  %y, %next, %sum = seq.recurrence tokens(%kt = %k : tensor<?x6x3xf32>, %vt = %v : tensor<?x6x5xf32>, %ft = %f : tensor<?x6xf32>) parameters()
      states(%mt = %m : tensor<6x3x5xf32>, %st = %s : tensor<6x3xf32>) -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>, tensor<6x3xf32>) {
    %d = seq.sigmoid %ft : tensor<6xf32>
    %kept = seq.contract %d, %mt {indexing_maps = [#h, #hkv, #hkv]} : (tensor<6xf32>, tensor<6x3x5xf32>) -> tensor<6x3x5xf32>
    %w = seq.contract %kt, %vt {indexing_maps = [#hk, #hv, #hkv]} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %n = seq.add %kept, %w : tensor<6x3x5xf32>
    %kept2 = seq.contract %d, %st {indexing_maps = [affine_map<(h, k) -> (h)>, affine_map<(h, k) -> (h, k)>, affine_map<(h, k) -> (h, k)>]}
        : (tensor<6xf32>, tensor<6x3xf32>) -> tensor<6x3xf32>
    %n2 = seq.add %kept2, %kt : tensor<6x3xf32>
    %r = seq.contract %kt, %n {indexing_maps = [#hk, #hkv, #hv]} : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    %t = seq.contract %kt, %n2 {indexing_maps = [affine_map<(h, k) -> (h, k)>, affine_map<(h, k) -> (h, k)>, affine_map<(h, k) -> (h)>]}
        : (tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<6xf32>
    %e = seq.exp %t : tensor<6xf32>
    %u = seq.contract %r, %e {indexing_maps = [affine_map<(h, v) -> (h, v)>, affine_map<(h, v) -> (h)>, affine_map<(h, v) -> (h, v)>]}
        : (tensor<6x5xf32>, tensor<6xf32>) -> tensor<6x5xf32>
    seq.yield %u, %n, %n2 : tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>
  }
  return
}

// States that meet stay together, and the op in which they do is named; so is one that keeps a sum from being a normaliser.
// CHECK-LABEL: func.func @prefill_meeting
// CHECK: states(%{{.*}} = %{{.*}} : tensor<6x3x5xf32>, %{{.*}} = %{{.*}} : tensor<6xf32>)
// WHOLE: remark: fallback: form in prefill_48: step, since it is not linear: 'seq.contract' joins the states of shape 6,3,5 and 6
// A step that is asked for is none that was fallen back to.
// ASKED: remark: form in prefill_48: step, since it is not linear: 'seq.contract' joins the states of shape 6,3,5 and 6
func.func @prefill_meeting(%k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %m: tensor<6x3x5xf32>, %s: tensor<6xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  %y, %next, %count = seq.recurrence tokens(%kt = %k : tensor<?x6x3xf32>, %vt = %v : tensor<?x6x5xf32>) parameters()
      states(%mt = %m : tensor<6x3x5xf32>, %st = %s : tensor<6xf32>) -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>, tensor<6xf32>) {
    %d = seq.exp %st : tensor<6xf32>
    %kept = seq.contract %d, %mt {indexing_maps = [#h, #hkv, #hkv]} : (tensor<6xf32>, tensor<6x3x5xf32>) -> tensor<6x3x5xf32>
    %w = seq.contract %kt, %vt {indexing_maps = [#hk, #hv, #hkv]} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %n = seq.add %kept, %w : tensor<6x3x5xf32>
    %r = seq.contract %kt, %n {indexing_maps = [#hk, #hkv, #hv]} : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    seq.yield %r, %n, %d : tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6xf32>
  }
  return
}

// WHOLE: remark: fallback: form in prefill_48: step, since it is not linear: 'seq.recurrence' adds the sum of keys a second time
func.func @prefill_doubled(%k: tensor<?x6x3xf32>, %v: tensor<?x6x5xf32>, %m: tensor<6x3x5xf32>, %s: tensor<6x3xf32>)
    attributes {seq.entry = #seq.entry<kind = prefill, rows = 48>} {
  %y, %next, %sum = seq.recurrence tokens(%kt = %k : tensor<?x6x3xf32>, %vt = %v : tensor<?x6x5xf32>) parameters()
      states(%mt = %m : tensor<6x3x5xf32>, %st = %s : tensor<6x3xf32>) -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>, tensor<6x3xf32>) {
    %w = seq.contract %kt, %vt {indexing_maps = [#hk, #hv, #hkv]} : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %n = seq.add %mt, %w : tensor<6x3x5xf32>
    %n2 = seq.add %st, %st : tensor<6x3xf32>
    %r = seq.contract %kt, %n {indexing_maps = [#hk, #hkv, #hv]} : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    seq.yield %r, %n, %n2 : tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>
  }
  return
}
}
