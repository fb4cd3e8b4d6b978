// The meaning of the mixers: values computed elsewhere, by hand or by formula.
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

using Numbers = Tensor<double>;
using Indices = Tensor<int32_t>;

// A result of a text on inputs.
Numbers run(StringRef text, std::vector<Datum<double>> inputs,
            size_t result = 0) {
  auto outputs = Program(text).evaluate<double>(std::move(inputs));
  return outputs.empty() ? Numbers() : numbers(outputs[result]);
}

//===- selective_scan -----------------------------------------------------===//

// One channel of two key channels; a_log = 0 and ln 2, a step of softplus(0.3),
// x = 0.5, b = 1 and -1, c = 2 and 1, d = 1. Computed in float64 from the
// formulas.
TEST(MixerReference, SelectiveScanOfOneStep) {
  StringRef text = R"(
func.func @f(%x: tensor<?x1x1xf32>, %dt: tensor<?x1x1xf32>, %b: tensor<?x1x2xf32>,
             %c: tensor<?x1x2xf32>, %a_log: tensor<1x2x1xf32>, %bias: tensor<1x1xf32>,
             %d: tensor<1x1xf32>, %s: tensor<1x2x1xf32>) -> (tensor<?x1x1xf32>, tensor<1x2x1xf32>) {
  %y, %next = seq.selective_scan %x, %dt, %b, %c parameters(%a_log, %bias, %d) state(%s)
      : (tensor<?x1x1xf32>, tensor<?x1x1xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>,
         tensor<1x2x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x2x1xf32>)
      -> (tensor<?x1x1xf32>, tensor<1x2x1xf32>)
  return %y, %next : tensor<?x1x1xf32>, tensor<1x2x1xf32>
})";
  std::vector<Datum<double>> inputs = {Numbers({1, 1, 1}, {0.5}),
                                       Numbers({1, 1, 1}, {0.3}),
                                       Numbers({1, 1, 2}, {1, -1}),
                                       Numbers({1, 1, 2}, {2, 1}),
                                       Numbers({1, 2, 1}, {0, std::log(2.0)}),
                                       Numbers({1, 1}, {0}),
                                       Numbers({1, 1}, {1}),
                                       Numbers({1, 2, 1}, {0, 0})};
  expectNear(run(text, inputs), Numbers({1, 1, 1}, {0.92717762}), 5e-9);
  expectNear(run(text, inputs, 1),
             Numbers({1, 2, 1}, {0.42717762, -0.42717762}), 5e-9);
}

//===- rodimus ------------------------------------------------------------===//

// One head of three key channels, a pair of gates before their activations
// each. What is left of a state of 1 is the decay, what a key of 1 writes the
// input gate. Computed in float64 from the formulas.
TEST(MixerReference, RodimusGates) {
  StringRef text = R"(
func.func @f(%q: tensor<?x1x3xf32>, %v: tensor<?x1x1xf32>, %g: tensor<?x1x3xf32>,
             %r: tensor<?x1x3xf32>, %d: tensor<1x1xf32>, %s: tensor<1x3x1xf32>) -> (tensor<?x1x1xf32>, tensor<1x3x1xf32>) {
  %y, %next = seq.rodimus %q, %q, %v, %g, %r, %v parameters(%d) state(%s)
      : (tensor<?x1x3xf32>, tensor<?x1x3xf32>, tensor<?x1x1xf32>, tensor<?x1x3xf32>,
         tensor<?x1x3xf32>, tensor<?x1x1xf32>, tensor<1x1xf32>, tensor<1x3x1xf32>)
      -> (tensor<?x1x1xf32>, tensor<1x3x1xf32>)
  return %y, %next : tensor<?x1x1xf32>, tensor<1x3x1xf32>
})";
  auto next = [&](double value, double state) {
    return run(text,
               {Numbers({1, 1, 3}, {1, 1, 1}), Numbers({1, 1, 1}, {value}),
                Numbers({1, 1, 3}, {0.5, -2, 4}),
                Numbers({1, 1, 3}, {-0.3, 1, 0}), Numbers({1, 1}, {0}),
                Numbers({1, 3, 1}, {state, state, state})},
               1);
  };
  expectNear(next(0, 1),
             Numbers({1, 3, 1}, {0.66065352, 0.91138322, 0.13411268}), 5e-9);
  expectNear(next(1, 0),
             Numbers({1, 3, 1}, {0.98888499, 0.22113017, 2.00453235}), 5e-9);
}

//===- rg_lru -------------------------------------------------------------===//

// One channel of rate -4; recurrence gates 0.2 and -0.4, input gates 1 and 0,
// x = 1.5 and -2, from position 0 on. Computed in float64 from the formulas:
// log a = -0.07983558 and -0.05827032, of which the first does not count.
TEST(MixerReference, RgLruOfTwoPositions) {
  StringRef text = R"(
func.func @f(%x: tensor<?x1x1xf32>, %r: tensor<?x1x1xf32>, %i: tensor<?x1x1xf32>,
             %p: tensor<?xi32>, %rate: tensor<1x1xf32>, %s: tensor<1x1x1xf32>)
    -> (tensor<?x1x1xf32>, tensor<1x1x1xf32>) {
  %y, %next = seq.rg_lru %x, %r, %i positions(%p) parameters(%rate) state(%s)
      : (tensor<?x1x1xf32>, tensor<?x1x1xf32>, tensor<?x1x1xf32>, tensor<?xi32>,
         tensor<1x1xf32>, tensor<1x1x1xf32>)
      -> (tensor<?x1x1xf32>, tensor<1x1x1xf32>)
  return %y, %next : tensor<?x1x1xf32>, tensor<1x1x1xf32>
})";
  std::vector<Datum<double>> inputs = {
      Numbers({2, 1, 1}, {1.5, -2}), Numbers({2, 1, 1}, {0.2, -0.4}),
      Numbers({2, 1, 1}, {1, 0}),    Indices({2}, {0, 1}),
      Numbers({1, 1}, {-4}),         Numbers({1, 1, 1}, {5})};
  expectNear(run(text, inputs), Numbers({2, 1, 1}, {1.09658787, 0.70284376}),
             5e-9);
  expectNear(run(text, inputs, 1), Numbers({1, 1, 1}, {0.70284376}), 5e-9);
}

//===- product keys -------------------------------------------------------===//

// Token n has the router logits 10n .. 10n+3: its own first half scores the one
// half of the keys, its own second half the other. The library's view of a
// batch splits over tokens instead, which makes a token's experts those of
// another.
TEST(MixerReference, RouterLogitsAreSplitByToken) {
  StringRef text = R"(
func.func @f(%l: tensor<3x4xf32>) -> (tensor<3x1x1x2xf32>, tensor<3x1x1x2xf32>) {
  %s = seq.reshape %l : tensor<3x4xf32> -> tensor<3x2x1x2xf32>
  %x = seq.slice %s {axis = 1 : i64, offset = 0 : i64, size = 1 : i64} : tensor<3x2x1x2xf32> -> tensor<3x1x1x2xf32>
  %y = seq.slice %s {axis = 1 : i64, offset = 1 : i64, size = 1 : i64} : tensor<3x2x1x2xf32> -> tensor<3x1x1x2xf32>
  return %x, %y : tensor<3x1x1x2xf32>, tensor<3x1x1x2xf32>
})";
  std::vector<Datum<double>> inputs = {
      Numbers({3, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23})};
  expectNear(run(text, inputs), Numbers({3, 1, 1, 2}, {0, 1, 10, 11, 20, 21}),
             0);
  expectNear(run(text, inputs, 1),
             Numbers({3, 1, 1, 2}, {2, 3, 12, 13, 22, 23}), 0);
}

//===- ssd ----------------------------------------------------------------===//

// One head and channel; a_log = 0, dt_bias = -1, raw dt = 0.5 and 1.5, x = 2
// and -1, b = 1 and 3, c = 1 and 0.5, d = 0.25. Computed in float64 from the
// formulas: dt' = 0.47407698, 0.97407698.
TEST(MixerReference, SsdOfOneChannel) {
  StringRef text = R"(
func.func @f(%x: tensor<?x1x1xf32>, %dt: tensor<?x1xf32>, %b: tensor<?x1x1xf32>,
             %c: tensor<?x1x1xf32>, %a_log: tensor<1xf32>, %bias: tensor<1xf32>,
             %d: tensor<1xf32>, %s: tensor<1x1x1xf32>) -> (tensor<?x1x1xf32>, tensor<1x1x1xf32>) {
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %bias, %d) state(%s)
      : (tensor<?x1x1xf32>, tensor<?x1xf32>, tensor<?x1x1xf32>, tensor<?x1x1xf32>),
        (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>), tensor<1x1x1xf32>
  return %y, %next : tensor<?x1x1xf32>, tensor<1x1x1xf32>
})";
  std::vector<Datum<double>> inputs = {
      Numbers({2, 1, 1}, {2, -1}), Numbers({2, 1}, {0.5, 1.5}),
      Numbers({2, 1, 1}, {1, 3}),  Numbers({2, 1, 1}, {1, 0.5}),
      Numbers({1}, {0}),           Numbers({1}, {-1}),
      Numbers({1}, {0.25}),        Numbers({1, 1, 1}, {0})};
  expectNear(run(text, inputs), Numbers({2, 1, 1}, {1.44815397, -1.53213213}),
             5e-9);
  expectNear(run(text, inputs, 1), Numbers({1, 1, 1}, {-2.56426427}), 5e-9);
}

// 4 heads in 2 groups read the keys 1 and 10 of their group: heads 0 and 1 the
// first, 2 and 3 the second. A step limited to 0.5 scales what is written, and
// from a rate of e^-2000 = 0 nothing decays.
TEST(MixerReference, SsdGroupsOfHeadsAndLimits) {
  StringRef text = R"(
func.func @f(%x: tensor<?x4x1xf32>, %dt: tensor<?x4xf32>, %b: tensor<?x2x1xf32>,
             %h: tensor<4xf32>, %z: tensor<4xf32>, %s: tensor<4x1x1xf32>) -> (tensor<?x4x1xf32>, tensor<4x1x1xf32>) {
  %y, %next = seq.ssd %x, %dt, %b, %b parameters(%h, %z, %z) state(%s)
      {dt_min = 0.25 : f64, dt_max = 0.5 : f64}
      : (tensor<?x4x1xf32>, tensor<?x4xf32>, tensor<?x2x1xf32>, tensor<?x2x1xf32>),
        (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>), tensor<4x1x1xf32>
  return %y, %next : tensor<?x4x1xf32>, tensor<4x1x1xf32>
})";
  std::vector<Datum<double>> inputs = {
      Numbers({1, 4, 1}, {1, 2, 3, 4}),
      Numbers({1, 4}, {9, -9, 9, -9}),
      Numbers({1, 2, 1}, {1, 10}),
      Numbers({4}, {-2000, -2000, -2000, -2000}),
      Numbers({4}),
      Numbers({4, 1, 1}, {100, 100, 100, 100})};
  // 100 + key * step * x, and the query reads it.
  expectNear(run(text, inputs, 1), Numbers({4, 1, 1}, {100.5, 100.5, 115, 110}),
             1e-12);
  expectNear(run(text, inputs), Numbers({1, 4, 1}, {100.5, 100.5, 1150, 1100}),
             1e-12);
}

} // namespace
