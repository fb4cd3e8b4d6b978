// The decays of heads, against numbers written down from the public rules.
#include "test/unit/dialects/seq/Program.h"

#include "mlir/AsmParser/AsmParser.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace effc::seq;
using effc::seq::test::Program;

namespace {

std::vector<double> decays(const std::string &parameters, int64_t heads) {
  Program program;
  auto attr =
      llvm::dyn_cast_or_null<ComputedWeightInterface>(mlir::parseAttribute(
          "#seq.head_decays<" + parameters + ">", program.getContext()));
  if (!attr)
    return {};
  llvm::SmallVector<double> all = attr.compute(heads);
  return {all.begin(), all.end()};
}

void expectNear(const std::vector<double> &found,
                const std::vector<double> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t h = 0; h < found.size(); ++h)
    EXPECT_NEAR(found[h], expected[h], 5e-8) << "head " << h;
}

// 31/32, 63/64, 127/128, 255/256.
TEST(HeadDecays, Retention) {
  expectNear(decays("rule = retention", 4),
             {std::log(0.96875), std::log(0.984375), std::log(0.9921875),
              std::log(0.99609375)});
}

// Of 12 heads the slopes of 8, then every other one of those of 16.
TEST(HeadDecays, AlibiOfAnyNumberOfHeads) {
  expectNear(decays("rule = alibi, negated = true", 12),
             {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125,
              0.00390625, 0.7071068, 0.3535534, 0.1767767, 0.0883883});
}

// Layer 2 of 5: 1 - 2/4 + 1e-5 of the slopes of 2 heads.
TEST(HeadDecays, AlibiOfALayer) {
  expectNear(decays("rule = alibi, layer = 2, layers = 5", 2),
             {-0.0625 * 0.50001, -0.00390625 * 0.50001});
}

// Powers of any number of heads; the first of 7 layers adds 1e-5.
TEST(HeadDecays, Powers) {
  expectNear(decays("rule = powers", 12),
             {-0.6299605, -0.3968503, -0.25, -0.1574901, -0.0992126, -0.0625,
              -0.0393725, -0.0248031, -0.0156250, -0.0098431, -0.0062008,
              -0.0039063});
  expectNear(decays("rule = powers, layer = 0, layers = 7", 2),
             {-0.0625 * 1.00001, -0.00390625 * 1.00001});
  // 1 - 6 / (6 + 1e-5) is 1.67e-6.
  expectNear(decays("rule = powers, layer = 6, layers = 7", 1),
             {-0.00390625 * 1.16667e-5});
}

// Lengths 2, 2 * 128^(1/3), 2 * 128^(2/3), 256.
TEST(HeadDecays, Lengths) {
  expectNear(decays("rule = lengths", 4),
             {-0.5, -0.0992126, -0.0196863, -0.00390625});
}

// 8 h / 4 for four heads, of which three quarters are left in layer 3 of 12.
TEST(HeadDecays, Linear) {
  expectNear(decays("rule = linear, layer = 3, layers = 12", 4),
             {0, -1.5, -3, -4.5});
}

} // namespace
