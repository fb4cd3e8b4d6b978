// RUN: effc-opt %s --host-pair-exponentials --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @maximum
// CHECK-SAME: %[[P:.*]]: vector<8xf32>, %[[Q:.*]]: vector<8xf32>
// CHECK: %[[ONE:.*]] = arith.constant dense<1.0
// CHECK: %[[D:.*]] = arith.subf %[[P]], %[[Q]]
// CHECK: %[[A:.*]] = math.absf %[[D]]
// CHECK: %[[N:.*]] = arith.negf %[[A]]
// CHECK: %[[E:.*]] = math.exp %[[N]]
// CHECK: %[[GE:.*]] = arith.cmpf oge, %[[P]], %[[Q]]
// CHECK: %[[X:.*]] = arith.select %[[GE]], %[[ONE]], %[[E]]
// CHECK: %[[LE:.*]] = arith.cmpf ole, %[[P]], %[[Q]]
// CHECK: %[[Y:.*]] = arith.select %[[LE]], %[[ONE]], %[[E]]
// CHECK-NOT: math.exp
// CHECK: return %[[X]], %[[Y]]
func.func @maximum(%p: vector<8xf32>, %q: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %m = arith.maximumf %p, %q : vector<8xf32>
  %a = arith.subf %p, %m : vector<8xf32>
  %b = arith.subf %q, %m : vector<8xf32>
  %x = math.exp %a : vector<8xf32>
  %y = math.exp %b : vector<8xf32>
  return %x, %y : vector<8xf32>, vector<8xf32>
}

// Alone, an exponential stays what it is.
// CHECK-LABEL: func.func @alone
// CHECK: math.exp
// CHECK-NOT: arith.select
func.func @alone(%p: vector<8xf32>, %q: vector<8xf32>) -> vector<8xf32> {
  %m = arith.maximumf %p, %q : vector<8xf32>
  %a = arith.subf %p, %m : vector<8xf32>
  %x = math.exp %a : vector<8xf32>
  return %x : vector<8xf32>
}

// CHECK-LABEL: func.func @sigmoids
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[A:.*]] = math.absf %[[X]]
// CHECK: %[[N:.*]] = arith.negf %[[A]]
// CHECK: %[[E:.*]] = math.exp %[[N]]
// CHECK: %[[SUM:.*]] = arith.addf %[[E]], %{{.*}}
// CHECK: %[[S:.*]] = arith.divf %{{.*}}, %[[SUM]]
// CHECK: %[[C:.*]] = arith.mulf %[[E]], %[[S]]
// CHECK: %[[GE:.*]] = arith.cmpf oge, %[[X]], %{{.*}}
// CHECK: %[[PLAIN:.*]] = arith.select %[[GE]], %[[S]], %[[C]]
// CHECK: %[[NEGATIVE:.*]] = arith.select %[[GE]], %[[C]], %[[S]]
// CHECK-NOT: arith.divf
// CHECK: return %[[PLAIN]], %[[NEGATIVE]]
func.func @sigmoids(%x: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %n = arith.negf %x : f32
  %e = math.exp %n : f32
  %d = arith.addf %e, %one : f32
  %s = arith.divf %one, %d : f32
  %n2 = arith.negf %n : f32
  %e2 = math.exp %n2 : f32
  %d2 = arith.addf %e2, %one : f32
  %s2 = arith.divf %one, %d2 : f32
  return %s, %s2 : f32, f32
}

// What a decay leaves of one, beside the decay: (e^x - 1) of x = 2 z.
// CHECK-LABEL: func.func @less_one
// CHECK-SAME: %[[Z:.*]]: vector<8xf32>
// CHECK: %[[TWO:.*]] = arith.constant dense<2.0
// CHECK: %[[DECAY:.*]] = math.exp %[[Z]]
// CHECK-NOT: math.tanh
// CHECK: %[[M:.*]] = math.expm1 %[[Z]]
// CHECK: %[[M2:.*]] = arith.addf %[[M]], %[[TWO]]
// CHECK: %[[LESS:.*]] = arith.mulf %[[M]], %[[M2]]
// CHECK: return %[[DECAY]], %[[LESS]]
func.func @less_one(%z: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %half = arith.constant dense<0.5> : vector<8xf32>
  %two = arith.constant dense<2.0> : vector<8xf32>
  %a = math.exp %z : vector<8xf32>
  %x = arith.mulf %z, %two : vector<8xf32>
  %h = arith.mulf %x, %half : vector<8xf32>
  %t = math.tanh %h : vector<8xf32>
  %e = math.exp %x : vector<8xf32>
  %s = arith.addf %e, %one : vector<8xf32>
  %m = arith.mulf %t, %s : vector<8xf32>
  return %a, %m : vector<8xf32>, vector<8xf32>
}

// Without the decay, of x itself.
// CHECK-LABEL: func.func @less_one_alone
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[LESS:.*]] = math.expm1 %[[X]]
// CHECK: return %[[LESS]]
func.func @less_one_alone(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %h = arith.mulf %x, %half : f32
  %t = math.tanh %h : f32
  %e = math.exp %x : f32
  %s = arith.addf %e, %one : f32
  %m = arith.mulf %t, %s : f32
  return %m : f32
}
