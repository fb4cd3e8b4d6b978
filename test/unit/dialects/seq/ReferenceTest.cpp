// The meaning of the ops: values computed elsewhere, by hand or by formula, and
// what a call can get wrong.
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

using Numbers = Tensor<double>;
using Indices = Tensor<int32_t>;

// The first result of a text on inputs.
Numbers run(StringRef text, std::vector<Datum<double>> inputs,
            size_t result = 0) {
  auto outputs = Program(text).evaluate<double>(std::move(inputs));
  return outputs.empty() ? Numbers() : numbers(outputs[result]);
}

//===- rows ---------------------------------------------------------------===//

constexpr StringLiteral kEmbedding = R"(
func.func @f(%t: tensor<?xi32>, %w: tensor<3x2xf32>) -> tensor<?x2xf32> {
  %y = seq.embedding %t, %w : (tensor<?xi32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
})";

TEST(Reference, Embedding) {
  Numbers table({3, 2}, {1, 2, 3, 4, 5, 6});
  expectNear(run(kEmbedding, {Indices({4}, {2, 0, 1, 2}), table}),
             Numbers({4, 2}, {5, 6, 1, 2, 3, 4, 5, 6}), 0);
}

TEST(Reference, EmbeddingOfNoTokens) {
  EXPECT_EQ(run(kEmbedding, {Indices({0}), Numbers({3, 2})}).getShape(),
            ArrayRef<int64_t>({0, 2}));
}

TEST(Reference, EmbeddingRefusesIdsOutsideTheTable) {
  for (int32_t id : {-1, 3}) {
    std::string error =
        Program(kEmbedding)
            .evaluateError({Indices({1}, {id}), Numbers({3, 2})});
    EXPECT_NE(error.find("'seq.embedding': expects 'tokens' in [0, 3), but "
                         "got " +
                         std::to_string(id)),
              std::string::npos)
        << error;
  }
}

TEST(Reference, SelectRows) {
  expectNear(run(R"(
func.func @f(%x: tensor<?x2xf32>, %r: tensor<?xi32>) -> tensor<?x2xf32> {
  %y = seq.select_rows %x, %r : (tensor<?x2xf32>, tensor<?xi32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
})",
                 {Numbers({3, 2}, {1, 2, 3, 4, 5, 6}), Indices({2}, {2, 0})}),
             Numbers({2, 2}, {5, 6, 1, 2}), 0);
}

//===- channels -----------------------------------------------------------===//

// Channel 2, then 0, then 2 again.
TEST(Reference, PermuteChannels) {
  expectNear(
      run(R"(
func.func @f(%x: tensor<?x3xf32>, %o: tensor<3xf32>) -> tensor<?x3xf32> {
  %y = seq.permute_channels %x by %o : tensor<?x3xf32>, tensor<3xf32>
  return %y : tensor<?x3xf32>
})",
          {Numbers({2, 3}, {1, 2, 3, 4, 5, 6}), Numbers({3}, {2, 0, 2})}),
      Numbers({2, 3}, {3, 1, 3, 6, 4, 6}), 0);
}

//===- dense --------------------------------------------------------------===//

// [1 2 3] times the rows [1 0 2] and [0 -1 1], plus 10 and 20.
TEST(Reference, Linear) {
  expectNear(
      run(R"(
func.func @f(%x: tensor<?x3xf32>, %w: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<?x2xf32> {
  %y = seq.linear %x, %w bias(%b) : (tensor<?x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
})",
          {Numbers({1, 3}, {1, 2, 3}), Numbers({2, 3}, {1, 0, 2, 0, -1, 1}),
           Numbers({2}, {10, 20})}),
      Numbers({1, 2}, {17, 21}), 0);
}

TEST(Reference, LmHead) {
  expectNear(
      run(R"(
func.func @f(%x: tensor<?x3xf32>, %w: tensor<2x3xf32>) -> tensor<?x2xf32> {
  %y = seq.lm_head %x, %w : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
})",
          {Numbers({1, 3}, {1, 2, 3}), Numbers({2, 3}, {1, 0, 2, 0, -1, 1})}),
      Numbers({1, 2}, {7, 1}), 0);
}

//===- norms --------------------------------------------------------------===//

// mean(1, 49) = 25, so with eps = 11 the root is 6.
TEST(Reference, RmsNorm) {
  expectNear(run(R"(
func.func @f(%x: tensor<?x2xf32>, %w: tensor<2xf32>) -> tensor<?x2xf32> {
  %y = seq.rms_norm %x, %w {eps = 11.0 : f64} : tensor<?x2xf32>, tensor<2xf32>
  return %y : tensor<?x2xf32>
})",
                 {Numbers({1, 2}, {1, -7}), Numbers({2}, {6, 12})}),
             Numbers({1, 2}, {1, -14}), 1e-15);
}

// x = [1,-2], z = [0.5,1], w = [1,2]: computed in float64 from the formula.
TEST(Reference, GatedRmsNorm) {
  expectNear(run(R"(
func.func @f(%x: tensor<?x2xf32>, %z: tensor<?x2xf32>, %w: tensor<2xf32>) -> tensor<?x2xf32> {
  %y = seq.gated_rms_norm %x, %z, %w {eps = 1.0e-5 : f64, groups = 1 : i64} : tensor<?x2xf32>, tensor<2xf32>
  return %y : tensor<?x2xf32>
})",
                 {Numbers({1, 2}, {1, -2}), Numbers({1, 2}, {0.5, 1}),
                  Numbers({2}, {1, 2})}),
             Numbers({1, 2}, {0.29443487, -2.76643468}), 5e-9);
}

// Two groups are two norms side by side.
TEST(Reference, GatedRmsNormByGroup) {
  StringRef pair = R"(
func.func @f(%x: tensor<?x4xf32>, %z: tensor<?x4xf32>, %w: tensor<4xf32>) -> tensor<?x4xf32> {
  %y = seq.gated_rms_norm %x, %z, %w {eps = 1.0e-5 : f64, groups = 2 : i64} : tensor<?x4xf32>, tensor<4xf32>
  return %y : tensor<?x4xf32>
})";
  expectNear(run(pair, {Numbers({1, 4}, {1, -2, 30, -60}),
                        Numbers({1, 4}, {0.5, 1, 0.5, 1}),
                        Numbers({4}, {1, 2, 1, 2})}),
             Numbers({1, 4}, {0.29443487, -2.76643468, 0.294437, -2.7664545}),
             1e-5);
}

//===- short convolution --------------------------------------------------===//

constexpr StringLiteral kConvolution = R"(
func.func @f(%x: tensor<?x2xf32>, %w: tensor<3x2xf32>, %b: tensor<2xf32>, %s: tensor<2x2xf32>)
    -> (tensor<?x2xf32>, tensor<2x2xf32>) {
  %y, %next = seq.short_convolution %x parameters(%w, %b) state(%s)
      : tensor<?x2xf32>, (tensor<3x2xf32>, tensor<2xf32>), tensor<2x2xf32>
  return %y, %next : tensor<?x2xf32>, tensor<2x2xf32>
})";

// Channel 0 with taps 1, 10, 100 (the oldest first) over 7 8 | 1 2 3, channel 1
// with the taps 0, 0, 1 over 0 0 | 4 5 6; biases 0 and 1000.
// Each token is the one before it; of none, the last one stays.
TEST(Reference, TokenShift) {
  constexpr StringLiteral text = R"(
func.func @f(%x: tensor<?x2xf32>, %l: tensor<2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>) {
  %y, %n = seq.token_shift %x state(%l) : tensor<?x2xf32>, tensor<2xf32>
  return %y, %n : tensor<?x2xf32>, tensor<2xf32>
})";
  Numbers x({3, 2}, {1, 2, 3, 4, 5, 6}), last({2}, {7, 8});
  expectNear(run(text, {x, last}), Numbers({3, 2}, {7, 8, 1, 2, 3, 4}), 0);
  expectNear(run(text, {x, last}, 1), Numbers({2}, {5, 6}), 0);
  expectNear(run(text, {Numbers({0, 2}), last}, 1), last, 0);
}

TEST(Reference, ShortConvolution) {
  std::vector<Datum<double>> inputs = {Numbers({3, 2}, {1, 4, 2, 5, 3, 6}),
                                       Numbers({3, 2}, {1, 0, 10, 0, 100, 1}),
                                       Numbers({2}, {0, 1000}),
                                       Numbers({2, 2}, {7, 0, 8, 0})};
  expectNear(run(kConvolution, inputs),
             Numbers({3, 2}, {187, 1004, 218, 1005, 321, 1006}), 0);
  expectNear(run(kConvolution, inputs, 1), Numbers({2, 2}, {2, 5, 3, 6}), 0);
}

// One token moves the tail by one: the older input is still the tail's.
TEST(Reference, ShortConvolutionOfOneToken) {
  expectNear(run(kConvolution,
                 {Numbers({1, 2}, {1, 4}), Numbers({3, 2}), Numbers({2}),
                  Numbers({2, 2}, {7, 0, 8, 9})},
                 1),
             Numbers({2, 2}, {8, 9, 1, 4}), 0);
}

// Channel 1 of a tail of 3: y = 2 x[t-1] + x[t], and its neighbours stay.
TEST(Reference, ShortConvolutionOfSomeChannels) {
  constexpr const char *text = R"(
func.func @f(%x: tensor<?x1xf32>, %w: tensor<2x1xf32>, %s: tensor<1x3xf32>) -> (tensor<?x1xf32>, tensor<1x3xf32>) {
  %y, %next = seq.short_convolution %x parameters(%w) state(%s) {first_channel = 1 : i64}
      : tensor<?x1xf32>, (tensor<2x1xf32>), tensor<1x3xf32>
  return %y, %next : tensor<?x1xf32>, tensor<1x3xf32>
})";
  std::vector<Datum<double>> inputs = {Numbers({2, 1}, {4, 5}),
                                       Numbers({2, 1}, {2, 1}),
                                       Numbers({1, 3}, {7, 8, 9})};
  expectNear(run(text, inputs), Numbers({2, 1}, {20, 13}), 0);
  expectNear(run(text, inputs, 1), Numbers({1, 3}, {7, 5, 9}), 0);
}

// silu(1) = 1 / (1 + e^-1).
TEST(Reference, ShortConvolutionActivates) {
  expectNear(run(R"(
func.func @f(%x: tensor<1x1xf32>, %w: tensor<2x1xf32>, %s: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %y, %next = seq.short_convolution %x parameters(%w) state(%s)
      {activation = #seq.activation<silu>}
      : tensor<1x1xf32>, (tensor<2x1xf32>), tensor<1x1xf32>
  return %y : tensor<1x1xf32>
})",
                 {Numbers({1, 1}, {4}), Numbers({2, 1}, {0.5, 0.125}),
                  Numbers({1, 1}, {1})}),
             Numbers({1, 1}, {1 / (1 + std::exp(-1.0))}), 1e-15);
}

//===- shapes -------------------------------------------------------------===//

TEST(Reference, SliceReshapeConcatBroadcast) {
  expectNear(run(R"(
func.func @f(%x: tensor<?x4xf32>, %b: tensor<3xf32>) -> tensor<?x3xf32> {
  %s = seq.slice %x {axis = 1 : i64, offset = 1 : i64, size = 3 : i64} : tensor<?x4xf32> -> tensor<?x3xf32>
  %r = seq.broadcast %b along %s {dimensions = array<i64: 1>} : tensor<3xf32>, tensor<?x3xf32>
  %y = seq.concat %s, %r {axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
})",
                 {Numbers({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}),
                  Numbers({3}, {10, 20, 30})}),
             Numbers({4, 3}, {2, 3, 4, 6, 7, 8, 10, 20, 30, 10, 20, 30}), 0);
}

TEST(Reference, ReshapeKeepsRowMajorOrder) {
  expectNear(run(R"(
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x2x2xf32> {
  %y = seq.reshape %x : tensor<?x4xf32> -> tensor<?x2x2xf32>
  return %y : tensor<?x2x2xf32>
})",
                 {Numbers({1, 4}, {1, 2, 3, 4})}),
             Numbers({1, 2, 2}, {1, 2, 3, 4}), 0);
}

TEST(Reference, SlicePastTheTokensGiven) {
  std::string error = Program(R"(
func.func @f(%x: tensor<?x4xf32>) -> tensor<3x4xf32> {
  %y = seq.slice %x {axis = 0 : i64, offset = 0 : i64, size = 3 : i64} : tensor<?x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
})")
                          .evaluateError({Numbers({2, 4})});
  EXPECT_NE(error.find("expects 'x' with at least 3 rows, but got 2"),
            std::string::npos)
      << error;
}

//===- elements -----------------------------------------------------------===//

// A unary op on some numbers.
Numbers map(StringRef op, std::vector<double> x) {
  int64_t size = x.size();
  return run(
      ("func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {\n  %y = seq." + op +
       " : tensor<?xf32>\n  return %y : tensor<?xf32>\n}")
          .str(),
      {Numbers({size}, std::move(x))});
}

TEST(Reference, Elements) {
  double infinity = INFINITY;
  expectNear(map("neg %x", {1, -2}), Numbers({2}, {-1, 2}), 0);
  expectNear(map("exp %x", {0, 1, -infinity}), Numbers({3}, {1, M_E, 0}),
             1e-15);
  expectNear(map("sigmoid %x", {0, std::log(3), -1000}),
             Numbers({3}, {0.5, 0.75, 0}), 1e-15);
  expectNear(map("silu %x", {0, std::log(3)}),
             Numbers({2}, {0, 0.75 * std::log(3)}), 1e-15);
  // log(2); no overflow above, e^x below.
  expectNear(map("softplus %x", {0, 1000, -1000}),
             Numbers({3}, {std::log(2), 1000, 0}), 1e-15);
  EXPECT_GT(map("softplus %x", {-30}).elements()[0], 0);
  expectNear(map("clamp %x {lower = 0.25 : f64, upper = 2.0 : f64}",
                 {0, 1, 3, -infinity, infinity}),
             Numbers({5}, {0.25, 1, 2, 0.25, 2}), 0);
  expectNear(map("clamp %x {upper = 2.0 : f64}", {-5, 3}),
             Numbers({2}, {-5, 2}), 0);
  EXPECT_TRUE(std::isnan(
      map("clamp %x {lower = 0.0 : f64}", {std::nan("")}).elements()[0]));
}

TEST(Reference, PairsOfElements) {
  auto pair = [](StringRef op) {
    return run(("func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> "
                "tensor<?xf32> {\n  %y = seq." +
                op + " %a, %b : tensor<?xf32>\n  return %y : tensor<?xf32>\n}")
                   .str(),
               {Numbers({2}, {5, -3}), Numbers({2}, {2, 4})});
  };
  expectNear(pair("add"), Numbers({2}, {7, 1}), 0);
  expectNear(pair("sub"), Numbers({2}, {3, -7}), 0);
  expectNear(pair("mul"), Numbers({2}, {10, -12}), 0);
}

TEST(Reference, PairsOfOtherLengths) {
  std::string error = Program(R"(
func.func @f(%a: tensor<?x2xf32>, %b: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %y = seq.add %a, %b : tensor<?x2xf32>
  return %y : tensor<?x2xf32>
})")
                          .evaluateError({Numbers({3, 2}), Numbers({4, 2})});
  EXPECT_NE(error.find("'seq.add': expects 'b' with the 3 rows of 'a', but "
                       "got 4"),
            std::string::npos)
      << error;
}

//===- contract, segment_sum, scan ----------------------------------------===//

constexpr StringLiteral kKeysTimesValues = R"(
func.func @f(%k: tensor<?x2xf32>, %v: tensor<?x3xf32>) -> tensor<2x3xf32> {
  %y = seq.contract %k, %v {indexing_maps = [
      affine_map<(k, v, t) -> (t, k)>, affine_map<(k, v, t) -> (t, v)>,
      affine_map<(k, v, t) -> (k, v)>]}
      : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
})";

// Two outer products: [1 2] (x) [1 2 3] and [10 20] (x) [0 0 1].
TEST(Reference, ContractSumsOverWhatTheResultLacks) {
  expectNear(run(kKeysTimesValues, {Numbers({2, 2}, {1, 2, 10, 20}),
                                    Numbers({2, 3}, {1, 2, 3, 0, 0, 1})}),
             Numbers({2, 3}, {1, 2, 13, 2, 4, 26}), 0);
}

TEST(Reference, ContractOfNoTokensIsZero) {
  expectNear(run(kKeysTimesValues, {Numbers({0, 2}), Numbers({0, 3})}),
             Numbers({2, 3}), 0);
}

TEST(Reference, ContractOfOtherLengths) {
  std::string error = Program(kKeysTimesValues)
                          .evaluateError({Numbers({2, 2}), Numbers({4, 3})});
  EXPECT_NE(error.find("expects dimension d2 of one extent, but got 2 and 4"),
            std::string::npos)
      << error;
}

// Row i, column j: the sum of elements j+1 .. i, for two quantities per token.
TEST(Reference, SegmentSum) {
  double none = -INFINITY;
  Numbers sums = run(R"(
func.func @f(%x: tensor<3x2xf32>) -> tensor<2x3x3xf32> {
  %y = seq.segment_sum %x : tensor<3x2xf32> -> tensor<2x3x3xf32>
  return %y : tensor<2x3x3xf32>
})",
                     {Numbers({3, 2}, {1, 10, 2, 20, 4, 40})});
  std::vector<double> expected = {0, none, none, 2,  0, none, 6,  4,  0,
                                  0, none, none, 20, 0, none, 60, 40, 0};
  EXPECT_EQ(sums.elements(), ArrayRef<double>(expected));
}

// As above, without the diagonal, and up to the token before the reader.
TEST(Reference, SegmentSumOfReadersBeforeTheirOwnWrite) {
  double none = -INFINITY;
  auto sums = [&](StringRef kind) {
    return run(("func.func @f(%x: tensor<3xf32>) -> tensor<3x3xf32> {\n"
                "  %y = seq.segment_sum %x " +
                kind +
                " : tensor<3xf32> -> tensor<3x3xf32>\n"
                "  return %y : tensor<3x3xf32>\n}")
                   .str(),
               {Numbers({3}, {1, 2, 4})});
  };
  std::vector<double> strict = {none, none, none, 2, none, none, 6, 4, none};
  EXPECT_EQ(sums("strict").elements(), ArrayRef<double>(strict));
  std::vector<double> exclusive = {none, none, none, 0, none, none, 2, 0, none};
  EXPECT_EQ(sums("exclusive").elements(), ArrayRef<double>(exclusive));
}

TEST(Reference, RunningSum) {
  auto sums = [&](StringRef kind) {
    return run(("func.func @f(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {\n"
                "  %y = seq.running_sum %x " +
                kind + " : tensor<3x2xf32>\n  return %y : tensor<3x2xf32>\n}")
                   .str(),
               {Numbers({3, 2}, {1, 10, 2, 20, 4, 40})});
  };
  expectNear(sums(""), Numbers({3, 2}, {1, 10, 3, 30, 7, 70}), 0);
  expectNear(sums("exclusive"), Numbers({3, 2}, {0, 0, 1, 10, 3, 30}), 0);
  expectNear(sums("reverse"), Numbers({3, 2}, {7, 70, 6, 60, 4, 40}), 0);
  expectNear(sums("reverse exclusive"), Numbers({3, 2}, {6, 60, 4, 40, 0, 0}),
             0);
}

// x0 = 1; x1 = 10 + 2 x0; x2 = 100 + 3 x0 + 4 x1. Entries on and above the
// diagonal are not read.
TEST(Reference, SolveUnitLower) {
  double unread = NAN;
  expectNear(run(R"(
func.func @f(%l: tensor<3x3xf32>, %b: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %x = seq.solve_unit_lower %l, %b : tensor<3x3xf32>, tensor<3x1xf32>
  return %x : tensor<3x1xf32>
})",
                 {Numbers({3, 3}, {unread, unread, unread, 2, unread, unread, 3,
                                   4, unread}),
                  Numbers({3, 1}, {1, 10, 100})}),
             Numbers({3, 1}, {1, 12, 151}), 0);
}

TEST(Reference, Constant) {
  expectNear(run(R"(
func.func @f() -> tensor<2x3xf32> {
  %y = seq.constant -2.500000e-01 : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
})",
                 {}),
             Numbers({2, 3}, std::vector<double>(6, -0.25)), 0);
}

// m: 5 -> max(-1 + 5, 7) = 7 -> max(-2 + 7, 4) = 5.
TEST(Reference, Stabilise) {
  StringRef text = R"(
func.func @f(%d: tensor<2x1xf32>, %i: tensor<2x1xf32>, %m: tensor<1xf32>)
    -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<1xf32>) {
  %r:4 = seq.stabilise %d, %i from %m : tensor<2x1xf32>, tensor<1xf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<1xf32>
})";
  std::vector<Datum<double>> inputs = {
      Numbers({2, 1}, {-1, -2}), Numbers({2, 1}, {7, 4}), Numbers({1}, {5})};
  expectNear(run(text, inputs, 0), Numbers({2, 1}, {-3, 0}), 0);
  expectNear(run(text, inputs, 1), Numbers({2, 1}, {0, -1}), 0);
  expectNear(run(text, inputs, 2), Numbers({2, 1}, {7, 5}), 0);
  expectNear(run(text, inputs, 3), Numbers({1}, {5}), 0);
}

// In f32 a cumulative sum past -1e4 would round 0.001 to a multiple of 1/1024.
TEST(Reference, SegmentSumKeepsMildDecaysAfterAStrongOne) {
  Program program(R"(
func.func @f(%x: tensor<3xf32>) -> tensor<3x3xf32> {
  %y = seq.segment_sum %x : tensor<3xf32> -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
})");
  auto outputs =
      program.evaluate<float>({Tensor<float>({3}, {0.f, -1e4f, -0.001f})});
  EXPECT_EQ(numbers(outputs[0])(2, 1), -0.001f);
}

constexpr StringLiteral kScan = R"(
func.func @f(%x: tensor<?x1xf32>, %s0: tensor<1xf32>) -> (tensor<?x1xf32>, tensor<1xf32>) {
  %y, %last = seq.scan chunk 2 tokens(%a = %x : tensor<?x1xf32>)
      states(%s = %s0 : tensor<1xf32>) -> (tensor<?x1xf32>), (tensor<1xf32>) {
    %rows = seq.broadcast %s along %a {dimensions = array<i64: 1>} : tensor<1xf32>, tensor<2x1xf32>
    %sum = seq.add %a, %rows : tensor<2x1xf32>
    %end = seq.slice %sum {axis = 0 : i64, offset = 1 : i64, size = 1 : i64} : tensor<2x1xf32> -> tensor<1x1xf32>
    %next = seq.reshape %end : tensor<1x1xf32> -> tensor<1xf32>
    seq.yield %sum, %next : tensor<2x1xf32>, tensor<1xf32>
  }
  return %y, %last : tensor<?x1xf32>, tensor<1xf32>
})";

// Each chunk adds the last sum of the chunk before: 100 | 1 2 | 3 4.
TEST(Reference, ScanCarriesStates) {
  std::vector<Datum<double>> inputs = {Numbers({4, 1}, {1, 2, 3, 4}),
                                       Numbers({1}, {100})};
  expectNear(run(kScan, inputs), Numbers({4, 1}, {101, 102, 105, 106}), 0);
  expectNear(run(kScan, inputs, 1), Numbers({1}, {106}), 0);
}

TEST(Reference, ScanOfNoTokensKeepsStates) {
  expectNear(run(kScan, {Numbers({0, 1}), Numbers({1}, {100})}, 1),
             Numbers({1}, {100}), 0);
}

TEST(Reference, ScanOfHalfAChunk) {
  std::string error =
      Program(kScan).evaluateError({Numbers({3, 1}), Numbers({1})});
  EXPECT_NE(error.find("expects T to be a multiple of 'chunk' 2, but got 3"),
            std::string::npos)
      << error;
}

//===- kernels and weights ------------------------------------------------===//

constexpr StringLiteral kWeights = R"(
seq.weight @scale source("norm.weight") : tensor<2xf32>
func.func @f(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %r = seq.kernel "scale" (%a = %x : tensor<?x2xf32>) -> (tensor<?x2xf32>) {
    %w = seq.parameter @scale : tensor<2xf32>
    %rows = seq.broadcast %w along %a {dimensions = array<i64: 1>} : tensor<2xf32>, tensor<?x2xf32>
    %y = seq.mul %a, %rows : tensor<?x2xf32>
    seq.yield %y : tensor<?x2xf32>
  }
  return %r : tensor<?x2xf32>
})";

// The provider is asked by weight and learns the checkpoint's name.
TEST(Reference, WeightsComeFromTheProvider) {
  Program program(kWeights);
  auto outputs =
      program.evaluate<double>({Numbers({2, 2}, {1, 2, 3, 4})},
                               [](WeightOp weight) -> llvm::Expected<Numbers> {
                                 EXPECT_EQ(weight.getSymName(), "scale");
                                 EXPECT_EQ(weight.getSource(), "norm.weight");
                                 return Numbers({2}, {10, 100});
                               });
  expectNear(numbers(outputs[0]), Numbers({2, 2}, {10, 200, 30, 400}), 0);
}

TEST(Reference, WeightOfOtherShape) {
  std::string error = Program(kWeights).evaluateError(
      {Numbers({2, 2})},
      [](WeightOp) -> llvm::Expected<Numbers> { return Numbers({3}); });
  EXPECT_NE(error.find("expects the weight 'scale' of shape 2, but got 3"),
            std::string::npos)
      << error;
}

TEST(Reference, NoWeights) {
  std::string error = Program(kWeights).evaluateError({Numbers({2, 2})});
  EXPECT_NE(error.find("no weights are given, but 'scale' is used"),
            std::string::npos)
      << error;
}

//===- calls --------------------------------------------------------------===//

TEST(Reference, InputsMustFit) {
  Program program(kEmbedding);
  Numbers table({3, 2});
  EXPECT_EQ(program.evaluateError({table}), "expects 2 inputs, but got 1");
  EXPECT_EQ(program.evaluateError({table, table}),
            "input #0 has the wrong element type");
  EXPECT_EQ(program.evaluateError({Indices({1}), Numbers({2, 3})}),
            "expects input #1 of shape 3, 2, but got 2, 3");
}

TEST(Reference, OpsWithoutMeaning) {
  std::string error = Program(R"(
func.func @f() {
  "test.op"() : () -> ()
  return
})")
                          .evaluateError({});
  EXPECT_NE(error.find("'test.op': has no reference evaluation"),
            std::string::npos)
      << error;
}

} // namespace
