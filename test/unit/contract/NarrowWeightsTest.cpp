// Products of f32 rows by bf16 weights agree with the formula, at the sizes
// where four warps of a GPU multiply together and at those beside them; with
// operands rounded to bf16, f16 or tf32 with the formula of rounded ones, but
// for a single row, which no tensor core multiplies, and on the host, which
// rounds nothing.
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

struct Case {
  int64_t I, O;
  bool byWarpGroups;                       // on a target that has them
  int64_t tileRows = 64, tileOutputs = 64; // there, where they are many
  double least = -1;                       // of the numbers, up to 1
  int64_t tokens = 150;                    // tiles of 64 rows and a part of one
};

// 132 cores have an item each, and sums of steps have no registers.
constexpr Case kLarge[] = {{64, 8440, true, 128, 128},
                           {64, 8440, true, 256, 128, -1, /*tokens=*/264}};
constexpr Case kCases[] = {{64, 64, true},
                           {128, 200, true},
                           {192, 24, true},
                           {64, 8, true},
                           {320, 72, true},
                           {96, 80, false},
                           {128, 36, false},
                           {640, 320, true},
                           // 132 cores have an item each, or more.
                           {64, 8456, true, 64, 128},
                           {128, 5640, true, 64, 128},
                           {96, 8456, false},
                           // A sum that tensor cores cut off at each product
                           // would lose ten times what is tolerated.
                           {1024, 56, true, 64, 64, /*least=*/0},
                           {1008, 56, false, 64, 64, /*least=*/0}};

/// What the weights are stored as.
enum class Stored { BF16, F16, F32 };
constexpr const char *kStored[] = {"bf16", "f16", "f32"};

std::string modelText(const Case &c, Stored stored) {
  std::string I = std::to_string(c.I), O = std::to_string(c.O),
              T = std::to_string(c.tokens);
  std::string x = "tensor<?x" + I + "xf32>", y = "tensor<?x" + O + "xf32>",
              table = "tensor<" + T + "x" + I + "xf32>",
              w = "tensor<" + O + "x" + I + "x" + kStored[int(stored)] + ">";
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

double rounded(double value, Products products) {
  switch (products) {
  case Products::F32:
    return value;
  case Products::TF32:
    return roundToTf32(value);
  case Products::BF16:
    return roundToBf16(value);
  case Products::F16:
    return roundToF16(value);
  case Products::Usual:
  case Products::Exact:
  case Products::Int16:
  case Products::Int8:
    break; // of digits, which the formula has none of
  }
  llvm_unreachable("the case's products are of rounded operands");
}

void compareWithTheFormula(const Case &c, Products products, Stored stored) {
  TestModel model(modelText(c, stored));
  PipelineOptions options;
  options.products = products;
  options.prefillRows = {c.tokens};
  options.decodeRows = {1, 8};
  std::vector<std::vector<int64_t>> together, expected;
  PlanRunner runner(model, options, /*slots=*/8, [&](ModuleOp module) {
    together = warpGroupTiles(module);
  });
  ASSERT_EQ(model.getErrors(), "");
  // Of the entries only prefill has as many rows.
  bool suits =
      stored == (products == Products::F16 ? Stored::F16 : Stored::BF16);
  if (c.byWarpGroups && suits && testTarget().hasUnit(tile::getWgmma))
    expected = {{c.tileRows, std::min(c.O, c.tileOutputs)}};
  EXPECT_EQ(together, expected);
  Random random(c.I + c.O);
  std::vector<float> table, w;
  for (int64_t i = 0; i < c.tokens * c.I; ++i)
    table.push_back(pickReal(random, c.least, 1));
  for (int64_t i = 0; i < c.O * c.I; ++i) {
    float number = pickReal(random, c.least, 1);
    w.push_back(stored == Stored::BF16  ? roundToBf16(number)
                : stored == Stored::F16 ? roundToF16(number)
                                        : number);
  }
  runner.setWeight("table", table);
  runner.setWeight("w", w);
  std::vector<int32_t> tokens(c.tokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  std::vector<float> found = runner.prefill(Segment{.tokens = tokens}),
                     single = runner.decode(Segment{.tokens = {7}});
  ASSERT_EQ(found.size(), size_t(c.tokens * c.O));
  // The host rounds nothing, nor do groups of warps to tf32.
  bool isExact = testTarget().device == tile::Device::Host ||
                 (products == Products::TF32 && !expected.empty());
  Products done = isExact ? Products::F32 : products;
  for (int64_t t = 0; t < c.tokens; ++t)
    for (int64_t o = 0; o < c.O; ++o) {
      double sum = 0, exact = 0, terms = 0;
      for (int64_t i = 0; i < c.I; ++i) {
        double x = table[t * c.I + i], weight = w[o * c.I + i];
        sum += rounded(x, done) * rounded(weight, done);
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
class RoundedProducts
    : public testing::TestWithParam<std::tuple<Case, Products, Stored>> {};

TEST_P(NarrowWeights, AgreeWithTheFormula) {
  compareWithTheFormula(GetParam(), Products::F32, Stored::BF16);
}

TEST_P(RoundedProducts, AgreeWithTheFormula) {
  auto [shape, products, stored] = GetParam();
  compareWithTheFormula(shape, products, stored);
}

std::string shapeOf(const Case &c) {
  return std::to_string(c.tokens) + "_times_" + std::to_string(c.I) + "_by_" +
         std::to_string(c.O);
}

std::string roundedName(
    const testing::TestParamInfo<std::tuple<Case, Products, Stored>> &info) {
  auto [shape, products, stored] = info.param;
  return shapeOf(shape) + "_" + kStored[int(stored)] + "_as_" +
         nameOf(products).str();
}

INSTANTIATE_TEST_SUITE_P(Shapes, NarrowWeights, testing::ValuesIn(kCases),
                         [](const auto &info) { return shapeOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Largest, RoundedProducts,
                         testing::Combine(testing::ValuesIn(kLarge),
                                          testing::Values(Products::BF16),
                                          testing::Values(Stored::BF16)),
                         roundedName);
INSTANTIATE_TEST_SUITE_P(
    Shapes, RoundedProducts,
    testing::Combine(testing::Values(kCases[1], kCases[5]),
                     testing::Values(Products::TF32, Products::BF16,
                                     Products::F16),
                     testing::Values(Stored::BF16, Stored::F16, Stored::F32)),
    roundedName);

} // namespace
