// The meaning of the ops that read positions, and of those that forms of a
// window are made of: values by hand, and what a call can get wrong.
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

#include <limits>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

using Numbers = Tensor<double>;
using Indices = Tensor<int32_t>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Datum<double> run(StringRef text, std::vector<Datum<double>> inputs) {
  auto outputs = Program(text).evaluate<double>(std::move(inputs));
  return outputs.empty() ? Datum<double>(Numbers()) : outputs[0];
}
Numbers runNumbers(StringRef text, std::vector<Datum<double>> inputs) {
  return numbers(run(text, std::move(inputs)));
}

TEST(Positions, ReduceAlongAnAxis) {
  auto text = [](std::string kind, std::string axis, std::string result) {
    return "func.func @f(%x: tensor<2x3xf32>) -> " + result +
           " {\n  %y = seq.reduce " + kind + " %x {axis = " + axis +
           " : i64} : tensor<2x3xf32> -> " + result +
           "\n  return %y : " + result + "\n}";
  };
  Numbers x({2, 3}, {1, 5, 3, -4, 2, 6});
  expectNear(runNumbers(text("sum", "1", "tensor<2xf32>"), {x}),
             Numbers({2}, {9, 4}), 0);
  expectNear(runNumbers(text("max", "0", "tensor<3xf32>"), {x}),
             Numbers({3}, {1, 5, 6}), 0);
  Numbers withNan({2, 3}, {1, NAN, 3, -4, 2, 6});
  Numbers largest = runNumbers(text("max", "1", "tensor<2xf32>"), {withNan});
  EXPECT_TRUE(std::isnan(largest(0)));
  EXPECT_EQ(largest(1), 6);
}

TEST(Positions, ElementwiseOpsOfSoftmax) {
  Numbers y = runNumbers(R"(
func.func @f(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %l = seq.max %a, %b : tensor<3xf32>
  %s = seq.scale %l by 0.5 : tensor<3xf32>
  %t = seq.tanh %s : tensor<3xf32>
  %q = seq.div %t, %b : tensor<3xf32>
  return %q : tensor<3xf32>
})",
                         {Numbers({3}, {2, -6, 0}), Numbers({3}, {1, 4, -2})});
  expectNear(y, Numbers({3}, {std::tanh(1.0), std::tanh(2.0) / 4, 0}), 1e-15);
}

// A ring of 4 rows. After positions 5 and 6: 4, 5, 6, 3; before 5: 4, 1, 2, 3;
// before 2 rows 2 and 3 hold nothing, which are positions below 0.
TEST(Positions, RingPositions) {
  auto text = [](std::string before) {
    return "func.func @f(%p: tensor<2xi32>) -> tensor<4xi32> {\n  %y = "
           "seq.ring_positions %p" +
           before +
           " : tensor<2xi32> -> tensor<4xi32>\n  return %y : tensor<4xi32>\n}";
  };
  auto held = [&](std::string before, std::vector<int32_t> positions) {
    return std::get<Indices>(run(text(before), {Indices({2}, positions)}))
        .elements()
        .vec();
  };
  EXPECT_EQ(held("", {5, 6}), (std::vector<int32_t>{4, 5, 6, 3}));
  EXPECT_EQ(held(" before", {5, 6}), (std::vector<int32_t>{4, 1, 2, 3}));
  EXPECT_EQ(held(" before", {2, 3}), (std::vector<int32_t>{0, 1, -2, -1}));
  EXPECT_EQ(held(" before", {0, 1}), (std::vector<int32_t>{-4, -3, -2, -1}));
}

// 4 rows for the first positions: after 1 and 2 row 3 holds nothing, later all
// hold what they did.
TEST(Positions, RingPositionsOfTheFirst) {
  auto held = [&](std::string before, std::vector<int32_t> positions) {
    std::string text =
        "func.func @f(%p: tensor<2xi32>) -> tensor<4xi32> {\n  %y = "
        "seq.ring_positions %p first" +
        before +
        " : tensor<2xi32> -> tensor<4xi32>\n  return %y : "
        "tensor<4xi32>\n}";
    return std::get<Indices>(run(text, {Indices({2}, positions)}))
        .elements()
        .vec();
  };
  EXPECT_EQ(held("", {1, 2}), (std::vector<int32_t>{0, 1, 2, -1}));
  EXPECT_EQ(held("", {8, 9}), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(held(" before", {1, 2}), (std::vector<int32_t>{0, -1, -1, -1}));
}

constexpr StringLiteral kRingWrite = R"(
func.func @f(%x: tensor<3x1xf32>, %p: tensor<3xi32>, %r: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %y = seq.ring_write %x at(%p) into(%r) : tensor<3x1xf32>, tensor<3xi32>, tensor<2x1xf32>
  return %y : tensor<2x1xf32>
})";

// The last of the rows that share a place stays.
TEST(Positions, RingWrite) {
  expectNear(runNumbers(kRingWrite,
                        {Numbers({3, 1}, {1, 2, 3}), Indices({3}, {3, 4, 5}),
                         Numbers({2, 1}, {8, 9})}),
             Numbers({2, 1}, {2, 3}), 0);
  std::string error =
      Program(kRingWrite)
          .evaluateError(
              {Numbers({3, 1}), Indices({3}, {-1, 0, 1}), Numbers({2, 1})});
  EXPECT_NE(error.find("expects 'positions' of at least 0, but got -1"),
            std::string::npos)
      << error;
}

// 3 rows for the first positions: of tokens at 2, 3 and 4 the first has one.
TEST(Positions, RingWriteOfTheFirst) {
  expectNear(runNumbers(R"(
func.func @f(%x: tensor<3x1xf32>, %p: tensor<3xi32>, %r: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %y = seq.ring_write %x at(%p) into(%r) first : tensor<3x1xf32>, tensor<3xi32>, tensor<3x1xf32>
  return %y : tensor<3x1xf32>
})",
                        {Numbers({3, 1}, {1, 2, 3}), Indices({3}, {2, 3, 4}),
                         Numbers({3, 1}, {7, 8, 9})}),
             Numbers({3, 1}, {7, 8, 1}), 0);
}

// Of keys at 0, 1, -3, 5 and 3 a window of 3 has passed the first two for a
// query at 4, and the first alone for one at 3.
TEST(Positions, WindowMaskOfPassedKeys) {
  Numbers y = runNumbers(
      R"(
func.func @f(%s: tensor<2x5xf32>, %q: tensor<2xi32>, %k: tensor<5xi32>) -> tensor<2x5xf32> {
  %y = seq.window_mask %s queries(%q) keys(%k) passed {window = 3 : i64} : tensor<2x5xf32>, tensor<2xi32>, tensor<5xi32>
  return %y : tensor<2x5xf32>
})",
      {Numbers({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), Indices({2}, {4, 3}),
       Indices({5}, {0, 1, -3, 5, 3})});
  EXPECT_EQ(
      y.elements().vec(),
      (std::vector<double>{1, 2, -kInfinity, -kInfinity, -kInfinity, 6,
                           -kInfinity, -kInfinity, -kInfinity, -kInfinity}));
}

// Of keys at 0, -3, 5 and 3 a query at 4 with 3 in sight sees the last, one at
// 5 the last two. A score out of sight may be anything.
TEST(Positions, WindowMask) {
  Numbers scores({2, 4}, {1, NAN, 3, 4, kInfinity, 6, 7, 8});
  Numbers y = runNumbers(
      R"(
func.func @f(%s: tensor<2x4xf32>, %q: tensor<2xi32>, %k: tensor<4xi32>) -> tensor<2x4xf32> {
  %y = seq.window_mask %s queries(%q) keys(%k) {window = 3 : i64} : tensor<2x4xf32>, tensor<2xi32>, tensor<4xi32>
  return %y : tensor<2x4xf32>
})",
      {scores, Indices({2}, {4, 5}), Indices({4}, {0, -3, 5, 3})});
  EXPECT_EQ(y.elements().vec(),
            (std::vector<double>{-kInfinity, -kInfinity, -kInfinity, 4,
                                 -kInfinity, -kInfinity, 7, 8}));
}

TEST(Positions, Distances) {
  expectNear(runNumbers(R"(
func.func @f(%q: tensor<2xi32>, %k: tensor<3xi32>) -> tensor<2x3xf32> {
  %y = seq.distances %q, %k : (tensor<2xi32>, tensor<3xi32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
})",
                        {Indices({2}, {4, 5}), Indices({3}, {0, 7, 4})}),
             Numbers({2, 3}, {-4, 3, 0, -5, 2, -1}), 0);
}

// The query at 5 stands at 4.
TEST(Positions, DistancesUpToALastPosition) {
  expectNear(runNumbers(R"(
func.func @f(%q: tensor<2xi32>, %k: tensor<2xi32>) -> tensor<2x2xf32> {
  %y = seq.distances %q, %k {last = 4 : i64} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
})",
                        {Indices({2}, {3, 5}), Indices({2}, {0, 1})}),
             Numbers({2, 2}, {-3, -2, -4, -3}), 0);
}

// 2 heads, 1 query, 2 keys; the second head has numbers of its own.
TEST(Positions, KeyNumbers) {
  auto with = [](std::string kind) {
    Numbers y = runNumbers(
        "func.func @f(%s: tensor<2x1x2xf32>, %d: tensor<2x2xf32>) -> "
        "tensor<2x1x2xf32> {\n  %y = seq.key_numbers <" +
            kind +
            "> %s, %d : tensor<2x1x2xf32>, tensor<2x2xf32>\n  return %y : "
            "tensor<2x1x2xf32>\n}",
        {Numbers({2, 1, 2}, {1, 2, 3, 4}), Numbers({2, 2}, {0.5, 1, 2, 0.25})});
    return y.elements().vec();
  };
  EXPECT_EQ(with("bias"), (std::vector<double>{1.5, 4, 4, 4.25}));
  EXPECT_EQ(with("scale"), (std::vector<double>{0.5, 4, 3, 1}));
  EXPECT_EQ(with("threshold"),
            (std::vector<double>{-kInfinity, 2, 3, -kInfinity}));
}

// One head. The query at 6 with a window of 4 sees 3 to 6, so of the others at
// 2, 3, 6 and 7 (numbers 9, 5, 4, 9) the two in the middle; of keys at 3, 5 and
// 6 with 5, 4 and 4 the first has none before it, the second the one at 3, the
// third that one alone, since it is no better than itself.
TEST(Positions, CountBetter) {
  expectNear(runNumbers(R"(
func.func @f(%d: tensor<3x1xf32>, %k: tensor<3xi32>, %e: tensor<4x1xf32>, %a: tensor<4xi32>, %q: tensor<1xi32>) -> tensor<1x1x3xf32> {
  %y = seq.count_better %d at(%k) among %e at(%a) queries(%q) {window = 4 : i64} : (tensor<3x1xf32>, tensor<3xi32>, tensor<4x1xf32>, tensor<4xi32>, tensor<1xi32>) -> tensor<1x1x3xf32>
  return %y : tensor<1x1x3xf32>
})",
                        {Numbers({3, 1}, {5, 4, 4}), Indices({3}, {3, 5, 6}),
                         Numbers({4, 1}, {9, 5, 4, 9}),
                         Indices({4}, {2, 3, 6, 7}), Indices({1}, {6})}),
             Numbers({1, 1, 3}, {0, 1, 1}), 0);
}

// The query at 6 with a window of 4 has passed 2 and what is before: of the
// others at 1, 2 and 3 (numbers 9, 4, 9) the first two. Of keys at 2 and 5,
// with 4 each, the first has one before it, the second the other too.
TEST(Positions, CountBetterOfPassedKeys) {
  expectNear(runNumbers(R"(
func.func @f(%d: tensor<2x1xf32>, %k: tensor<2xi32>, %e: tensor<3x1xf32>, %a: tensor<3xi32>, %q: tensor<1xi32>) -> tensor<1x1x2xf32> {
  %y = seq.count_better %d at(%k) among %e at(%a) queries(%q) passed {window = 4 : i64} : (tensor<2x1xf32>, tensor<2xi32>, tensor<3x1xf32>, tensor<3xi32>, tensor<1xi32>) -> tensor<1x1x2xf32>
  return %y : tensor<1x1x2xf32>
})",
                        {Numbers({2, 1}, {4, 4}), Indices({2}, {2, 5}),
                         Numbers({3, 1}, {9, 4, 9}), Indices({3}, {1, 2, 3}),
                         Indices({1}, {6})}),
             Numbers({1, 1, 2}, {1, 2}), 0);
}

// 2 heads that share ranks, 1 query, 3 keys, of which the best 2 stay.
TEST(Positions, KeepBest) {
  Numbers y = runNumbers(
      R"(
func.func @f(%s: tensor<2x1x3xf32>, %r: tensor<1x1x3xf32>) -> tensor<2x1x3xf32> {
  %y = seq.keep_best %s, %r {keep = 2 : i64} : tensor<2x1x3xf32>, tensor<1x1x3xf32>
  return %y : tensor<2x1x3xf32>
})",
      {Numbers({2, 1, 3}, {1, 2, 3, 4, 5, 6}), Numbers({1, 1, 3}, {1, 2, 0})});
  EXPECT_EQ(y.elements().vec(),
            (std::vector<double>{1, -kInfinity, 3, 4, -kInfinity, 6}));
}

// D = 4, base 10000, position 3, computed in float64 by an independent program.
// The interleaved pairs are the same turned channels in another order.
TEST(Positions, Rotary) {
  auto turned = [](std::string pairs, std::vector<double> x) {
    return runNumbers(
        "func.func @f(%x: tensor<1x1x4xf32>, %p: tensor<1xi32>, %f: "
        "tensor<2xf32>) -> tensor<1x1x4xf32> {\n  %y = seq.rotary " +
            pairs +
            " %x at(%p), %f : tensor<1x1x4xf32>, tensor<1xi32>, "
            "tensor<2xf32>\n  return %y : tensor<1x1x4xf32>\n}",
        {Numbers({1, 1, 4}, x), Indices({1}, {3}), Numbers({2}, {1, 0.01})});
  };
  expectNear(
      turned("half", {1, 2, 3, 4}),
      Numbers({1, 1, 4}, {-1.41335252, 1.87911807, -2.82885748, 4.05819114}),
      1e-8);
  expectNear(
      turned("interleaved", {1, 3, 2, 4}),
      Numbers({1, 1, 4}, {-1.41335252, -2.82885748, 1.87911807, 4.05819114}),
      1e-8);
}

// At 7 as at 3, the last position, and at 2 as without it.
TEST(Positions, RotaryUpToALastPosition) {
  auto turned = [](std::string attributes, int32_t position) {
    return runNumbers(
        "func.func @f(%x: tensor<1x1x2xf32>, %p: tensor<1xi32>, %f: "
        "tensor<1xf32>) -> tensor<1x1x2xf32> {\n  %y = seq.rotary half %x "
        "at(%p), %f " +
            attributes +
            " : tensor<1x1x2xf32>, tensor<1xi32>, tensor<1xf32>\n  return %y : "
            "tensor<1x1x2xf32>\n}",
        {Numbers({1, 1, 2}, {1, 0}), Indices({1}, {position}),
         Numbers({1}, {0.5})});
  };
  std::string last = "{last = 3 : i64}";
  expectNear(turned(last, 7),
             Numbers({1, 1, 2}, {std::cos(1.5), std::sin(1.5)}), 1e-15);
  expectNear(turned(last, 2), turned("", 2), 0);
}

constexpr StringLiteral kRotaryOfRows = R"(
func.func @f(%x: tensor<2x1x2xf32>, %p: tensor<2xi32>, %f: tensor<4x1xf32>) -> tensor<2x1x2xf32> {
  %y = seq.rotary half %x at(%p), %f : tensor<2x1x2xf32>, tensor<2xi32>, tensor<4x1xf32>
  return %y : tensor<2x1x2xf32>
})";

// Each position by its own frequency; there are four.
TEST(Positions, RotaryOfRows) {
  Numbers x({2, 1, 2}, {1, 0, 1, 0}), f({4, 1}, {9, 9, 0.25, 0.5});
  expectNear(runNumbers(kRotaryOfRows, {x, Indices({2}, {2, 3}), f}),
             Numbers({2, 1, 2}, {std::cos(0.5), std::sin(0.5), std::cos(1.5),
                                 std::sin(1.5)}),
             1e-15);
  std::string error =
      Program(kRotaryOfRows).evaluateError({x, Indices({2}, {3, 4}), f});
  EXPECT_NE(error.find("expects 'positions' in [0, 4), the C of 'frequencies', "
                       "but got 4"),
            std::string::npos)
      << error;
}

// Products of a query at 5 and a key at 3: a sum of cosines of two positions.
TEST(Positions, CosineSineDependsOnTheDistance) {
  Numbers y = runNumbers(
      R"(
func.func @f(%x: tensor<2x1x2xf32>, %p: tensor<2xi32>, %f: tensor<1x2xf32>) -> tensor<2x1x4xf32> {
  %y = seq.cosine_sine %x at(%p), %f : (tensor<2x1x2xf32>, tensor<2xi32>, tensor<1x2xf32>) -> tensor<2x1x4xf32>
  return %y : tensor<2x1x4xf32>
})",
      {Numbers({2, 1, 2}, {2, 3, 5, 7}), Indices({2}, {5, 3}),
       Numbers({1, 2}, {0.5, 0.125})});
  double product = 0;
  for (int64_t k = 0; k < 4; ++k)
    product += y(0, 0, k) * y(1, 0, k);
  EXPECT_NEAR(product, 10 * std::cos(1.0) + 21 * std::cos(0.25), 1e-14);
}

std::string attentionError(std::string window, std::vector<int32_t> positions) {
  std::string text =
      "func.func @f(%q: tensor<2x1x1xf32>, %p: tensor<2xi32>, %s: "
      "tensor<4x1x1xf32>) -> tensor<2x1x1xf32> {\n  %y, %a, %b = seq.attention "
      "%q, %q, %q positions(%p) states(%s, %s) {" +
      window +
      "scale = 1.0 : f64} : (tensor<2x1x1xf32>, tensor<2x1x1xf32>, "
      "tensor<2x1x1xf32>, tensor<2xi32>, tensor<4x1x1xf32>, "
      "tensor<4x1x1xf32>) -> (tensor<2x1x1xf32>, tensor<4x1x1xf32>, "
      "tensor<4x1x1xf32>)\n  return %y : tensor<2x1x1xf32>\n}";
  std::vector<Datum<double>> inputs = {
      Numbers({2, 1, 1}), Indices({2}, positions), Numbers({4, 1, 1})};
  return Program(text).evaluateError(inputs);
}

TEST(Positions, AttentionRefusesPositionsThatDoNotFollowOneAnother) {
  for (std::vector<int32_t> positions : {std::vector<int32_t>{3, 3}, {3, 5}})
    EXPECT_NE(attentionError("window = 4 : i64, ", positions)
                  .find("expects 'positions' of at least 0, each one more than "
                        "the one before, but got " +
                        std::to_string(positions[1]) + " for token 1"),
              std::string::npos);
}

TEST(Positions, RingRowsFollowThePositions) {
  std::string text = "func.func @f(%p: tensor<4xi32>) -> tensor<4x3xf32> {\n"
                     "  %y = seq.ring_row %p : tensor<4xi32> -> "
                     "tensor<4x3xf32>\n  return %y : tensor<4x3xf32>\n}";
  expectNear(runNumbers(text, {Indices({4}, {7, 8, 9, 10})}),
             Numbers({4, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0}), 0);
  EXPECT_NE(Program(text)
                .evaluateError({Indices({4}, {-1, 0, 1, 2})})
                .find("expects 'positions' of at least 0, but got -1"),
            std::string::npos);
}

TEST(Positions, BandsRefusePositionsThatDoNotFollowOneAnother) {
  Program program(
      "func.func @f(%x: tensor<2x1x1xf32>, %p: tensor<2xi32>, %k: "
      "tensor<1x1x3xf32>, %v: tensor<1x3x1xf32>) -> tensor<2x1x1xf32> {\n"
      "  %m = seq.band_matrix -> !seq.semiseparable<heads = 1, rank = 1, "
      "decay = none, band = 3>\n"
      "  %y:3 = seq.apply_band %m, %x positions(%p) states(%k, %v) : "
      "!seq.semiseparable<heads = 1, rank = 1, decay = none, band = 3>, "
      "tensor<2x1x1xf32>, tensor<2xi32>, tensor<1x1x3xf32>, "
      "tensor<1x3x1xf32>\n  return %y#0 : tensor<2x1x1xf32>\n}");
  for (std::vector<int32_t> positions : {std::vector<int32_t>{3, 3}, {3, 5}})
    EXPECT_NE(program
                  .evaluateError({Numbers({2, 1, 1}), Indices({2}, positions),
                                  Numbers({1, 1, 3}), Numbers({1, 3, 1})})
                  .find("expects 'positions' of at least 0, each one more than "
                        "the one before, but got " +
                        std::to_string(positions[1]) + " for token 1"),
              std::string::npos);
}

// There are weights for 3 positions and rows for 4.
TEST(Positions, CausalMixRefusesPositionsPastItsWeights) {
  Program program(
      "func.func @f(%x: tensor<2x1xf32>, %p: tensor<2xi32>, %w: "
      "tensor<3x3xf32>, %i: tensor<4x1xf32>) -> tensor<2x1xf32> {\n"
      "  %y, %n = seq.causal_mix %x positions(%p) parameters(%w) state(%i) : "
      "(tensor<2x1xf32>, tensor<2xi32>, tensor<3x3xf32>, tensor<4x1xf32>) -> "
      "(tensor<2x1xf32>, tensor<4x1xf32>)\n  return %y : tensor<2x1xf32>\n}");
  auto errorAt = [&](std::vector<int32_t> positions) {
    return program.evaluateError({Numbers({2, 1}), Indices({2}, positions),
                                  Numbers({3, 3}), Numbers({4, 1})});
  };
  EXPECT_NE(errorAt({2, 3}).find("expects 'positions' in [0, 3), but got 3"),
            std::string::npos);
  EXPECT_NE(errorAt({1, 1}).find("expects 'positions' each one more than the "
                                 "one before, but got 1 for token 1"),
            std::string::npos);
}

TEST(Positions, AttentionRefusesPositionsPastItsTable) {
  EXPECT_NE(
      attentionError("", {3, 4})
          .find("expects 'positions' below 4, the W of 'keys', but got 4"),
      std::string::npos);
}

} // namespace
