// RUN: effc-opt %s --expand-math | FileCheck %s

// exp: n = round(x / ln 2), two steps to r = x - n ln 2, a polynomial in pairs of terms,
// two steps in r^2 and one that adds r, 2^n in two halves, the first of which takes in
// the 1; the limits let a NaN pass. Vectors as scalars.
// CHECK-LABEL: func.func @exp
// CHECK-SAME: (%[[X:.*]]: vector<8xf32>)
// CHECK-NOT: math.exp
// CHECK: %[[LOW:.*]] = arith.cmpf olt, %[[X]]
// CHECK: arith.select %[[LOW]], %{{.*}}, %[[X]]
// CHECK: %[[N:.*]] = math.roundeven
// CHECK: math.fma %[[N]]
// CHECK: %[[R:.*]] = math.fma %[[N]]
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[R]], %[[R]]
// CHECK-COUNT-2: math.fma %[[R]]
// CHECK: math.fma %{{.*}}, %[[SQUARE]]
// CHECK: math.fma %[[R]]
// CHECK: math.fma %{{.*}}, %[[SQUARE]]
// CHECK: %[[LESS:.*]] = math.fma %{{.*}}, %[[SQUARE]], %[[R]]
// CHECK: arith.fptosi %[[N]] : vector<8xf32> to vector<8xi32>
// CHECK: %[[HALF:.*]] = arith.bitcast %{{.*}} : vector<8xi32> to vector<8xf32>
// CHECK: arith.bitcast %{{.*}} : vector<8xi32> to vector<8xf32>
// CHECK: math.fma %[[LESS]], %[[HALF]], %[[HALF]]
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// log1p: log of 1 + x plus what the sum lost, over the sum; eight steps of Horner's
// rule.
// CHECK-LABEL: func.func @log1p
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-NOT: math.log1p
// CHECK: %[[Y:.*]] = arith.addf %[[X]]
// CHECK: %[[BACK:.*]] = arith.subf %[[Y]]
// CHECK: %[[LOST:.*]] = arith.subf %[[X]], %[[BACK]]
// CHECK-COUNT-8: math.fma
// CHECK: arith.divf %[[LOST]], %[[Y]]
func.func @log1p(%x: f32) -> f32 {
  %y = math.log1p %x : f32
  return %y : f32
}

// log1p of what lies between 0 and 1: s = x / (1 + x / 2), three steps in s^2 and
// one that adds s. The exponential of what is at most 0: a sum rounds n, and its bits
// are the factor's.
// CHECK-LABEL: func.func @log1p_of_a_decay
// CHECK-NOT: math.roundeven
// CHECK: %[[SUM:.*]] = math.fma
// CHECK: arith.subf %[[SUM]]
// CHECK-COUNT-5: math.fma
// CHECK: arith.bitcast %[[SUM]] : f32 to i32
// CHECK: arith.shli
// CHECK: %[[S:.*]] = arith.divf
// CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[S]], %[[S]]
// CHECK-COUNT-3: math.fma %{{.*}}, %[[SQUARE]]
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[S]]
func.func @log1p_of_a_decay(%x: f32) -> f32 {
  %size = math.absf %x : f32
  %away = arith.negf %size : f32
  %decay = math.exp %away : f32
  %y = math.log1p %decay : f32
  return %y : f32
}

// erfc: 1 - x p(x^2) near 0, seven steps; e^-x^2 / |x| p(1 / x^2) beyond, the square
// in two parts; from the other side of 2 where x is negative.
// CHECK-LABEL: func.func @erfc
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-NOT: math.erfc
// CHECK: %[[AWAY:.*]] = math.absf %[[X]]
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[CLAMPED:.*]], %[[CLAMPED]]
// CHECK: %[[MINUS:.*]] = arith.negf %[[SQUARE]]
// CHECK: math.fma %[[CLAMPED]], %[[CLAMPED]], %[[MINUS]]
// CHECK: math.roundeven
// CHECK: arith.divf %{{.*}}, %[[CLAMPED]]
func.func @erfc(%x: f32) -> f32 {
  %y = math.erfc %x : f32
  return %y : f32
}

// log: numbers below the normal range are scaled by 2^23 first.
// CHECK-LABEL: func.func @log
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-NOT: math.log
// CHECK: arith.mulf %[[X]], %{{.*}} : f32
// CHECK-COUNT-8: math.fma
func.func @log(%x: f32) -> f32 {
  %y = math.log %x : f32
  return %y : f32
}

// tanh: four steps of Horner's rule near 0, an exponential elsewhere.
// CHECK-LABEL: func.func @tanh
// CHECK-NOT: math.tanh
// CHECK-COUNT-5: math.fma
// CHECK: math.roundeven
// CHECK: arith.divf
func.func @tanh(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// One instruction each, another width, and a function without a polynomial: left.
// CHECK-LABEL: func.func @others
// CHECK: math.sqrt
// CHECK: math.fma
// CHECK: math.exp %{{.*}} : f64
// CHECK: math.atan
func.func @others(%x: f32, %d: f64) -> (f32, f64) {
  %a = math.sqrt %x : f32
  %b = math.fma %a, %a, %x : f32
  %e = math.exp %d : f64
  %c = math.atan %b : f32
  return %c, %e : f32, f64
}
