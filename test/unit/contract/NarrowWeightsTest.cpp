// Products of f32 rows by bf16 weights agree with the formula, at the sizes
// where four warps of a GPU multiply together and at those beside them; with
// rounded operands with the formula of rounded rows, but for a single row,
// which no tensor core multiplies, and on the host, which rounds nothing.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/NarrowNumbers.h"
#include "test/unit/contract/RetrievalCase.h"

#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using Segment = PlanRunner::Segment;

namespace {

// Two tiles of rows and a part of one.
constexpr int64_t kTokens = 150;

struct Case {
  int64_t I, O;
  bool byWarpGroups;                       // on a target that has them
  int64_t tileRows = 64, tileOutputs = 64; // there, where they are many
};

constexpr Case kCases[] = {{64, 64, true},
                           {128, 200, true},
                           {192, 24, true},
                           {64, 8, true},
                           {320, 72, true},
                           {96, 80, false},
                           {128, 36, false},
                           {640, 320, true},
                           // 132 cores have an item each, or more.
                           {64, 8456, true, 128, 128},
                           {128, 5640, true, 64, 128},
                           {96, 8456, false}};

std::string modelText(const Case &c) {
  std::string I = std::to_string(c.I), O = std::to_string(c.O),
              T = std::to_string(kTokens);
  std::string x = "tensor<?x" + I + "xf32>", y = "tensor<?x" + O + "xf32>",
              table = "tensor<" + T + "x" + I + "xf32>",
              w = "tensor<" + O + "x" + I + "xbf16>";
  return "seq.weight @table source(\"table\") : " + table +
         "\nseq.weight @w source(\"w\") : " + w +
         "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) "
         "-> " +
         y + " {\n  %table = seq.parameter @table : " + table +
         "\n  %w = seq.parameter @w : " + w +
         "\n  %x = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
         ") -> " + x + "\n  %y = seq.linear %x, %w : (" + x + ", " + w +
         ") -> " + y + "\n  %out = seq.select_rows %y, %rows : (" + y +
         ", tensor<?xi32>) -> " + y + "\n  return %out : " + y + "\n}\n";
}

/// The tiles of the products that read swizzled columns; no others are larger
/// than 64 x 64.
std::vector<std::vector<int64_t>> warpGroupTiles(ModuleOp module) {
  std::vector<std::vector<int64_t>> tiles;
  module.walk([&](tile::DotOp dot) {
    auto layout =
        dyn_cast_or_null<tile::SharedAttr>(dot.getB().getType().getLayout());
    if (layout && layout.getSwizzled())
      tiles.push_back(dot.getAcc().getType().getShape().vec());
    else
      EXPECT_LE(dot.getAcc().getType().rows() *
                    dot.getAcc().getType().columns(),
                64 * 64);
  });
  return tiles;
}

void compareWithTheFormula(const Case &c, Products products) {
  TestModel model(modelText(c));
  PipelineOptions options;
  options.products = products;
  options.prefillRows = {kTokens};
  options.decodeRows = {1, 8};
  std::vector<std::vector<int64_t>> together, expected;
  PlanRunner runner(model, options, /*slots=*/8, [&](ModuleOp module) {
    together = warpGroupTiles(module);
  });
  ASSERT_EQ(model.getErrors(), "");
  // Of the entries only prefill has as many rows.
  if (c.byWarpGroups && testTarget().warpGroups)
    expected = {{c.tileRows, std::min(c.O, c.tileOutputs)}};
  EXPECT_EQ(together, expected);
  Random random(c.I + c.O);
  std::vector<float> table, w;
  for (int64_t i = 0; i < kTokens * c.I; ++i)
    table.push_back(pickReal(random, -1, 1));
  for (int64_t i = 0; i < c.O * c.I; ++i)
    w.push_back(llvm::bit_cast<float>(
        llvm::bit_cast<uint32_t>(float(pickReal(random, -1, 1))) & 0xffff0000));
  runner.setWeight("table", table);
  runner.setWeight("w", w);
  std::vector<int32_t> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  std::vector<float> found = runner.prefill(Segment{.tokens = tokens}),
                     single = runner.decode(Segment{.tokens = {7}});
  ASSERT_EQ(found.size(), size_t(kTokens * c.O));
  for (int64_t t = 0; t < kTokens; ++t)
    for (int64_t o = 0; o < c.O; ++o) {
      bool rounds = products == Products::BF16 &&
                    testTarget().device != tile::Device::Host;
      double sum = 0, exact = 0, terms = 0;
      for (int64_t i = 0; i < c.I; ++i) {
        double x = table[t * c.I + i], weight = w[o * c.I + i];
        sum += (rounds ? roundToBf16(x) : x) * weight;
        exact += x * weight;
        terms += std::fabs(x * weight);
      }
      // Parts of bf16 leave out 2^-23 of a term; the rest is f32's rounding.
      ASSERT_NEAR(found[t * c.O + o], sum, 1e-6 * terms) << t << ", " << o;
      if (t == 7)
        ASSERT_NEAR(single[o], exact, 1e-6 * terms) << o;
    }
}

class NarrowWeights : public testing::TestWithParam<Case> {};
class RoundedProducts : public testing::TestWithParam<Case> {};

TEST_P(NarrowWeights, AgreeWithTheFormula) {
  compareWithTheFormula(GetParam(), Products::F32);
}

TEST_P(RoundedProducts, AgreeWithTheFormula) {
  compareWithTheFormula(GetParam(), Products::BF16);
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return std::to_string(info.param.I) + "_by_" + std::to_string(info.param.O);
}

INSTANTIATE_TEST_SUITE_P(Shapes, NarrowWeights, testing::ValuesIn(kCases),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, RoundedProducts,
                         testing::Values(kCases[1], kCases[5]), nameOf);

} // namespace
