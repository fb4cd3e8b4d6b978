// A projection that is split in front of outputs which stay f32 gives what it gives
// whole, but for the rounding of the others.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/NarrowNumbers.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/RetrievalCase.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

/// Rows of a call in which products are split, channels of a row, outputs that are
/// multiplied again, and those that become exponents.
constexpr int64_t kRows = 1024, kChannels = 40, kMultiplied = 96,
                  kExponents = 7;

// y = exp(e) (.) W silu(a), where a and e are parts of one projection.
std::string modelText() {
  auto n = [](int64_t number) { return std::to_string(number); };
  std::string x = tensorType({"?", n(kChannels)}),
              all = tensorType({"?", n(kMultiplied + kExponents)}),
              a = tensorType({"?", n(kMultiplied)}),
              e = tensorType({"?", n(kExponents)}),
              table = tensorType({n(kRows), n(kChannels)}),
              up = tensorType({n(kMultiplied + kExponents), n(kChannels)},
                              "bf16"),
              down = tensorType({n(kExponents), n(kMultiplied)}, "bf16");
  auto slice = [&](const std::string &result, int64_t offset, int64_t size,
                   const std::string &type) {
    return "  %" + result +
           " = seq.slice %p {axis = 1 : i64, offset = " + n(offset) +
           " : i64, size = " + n(size) + " : i64} : " + all + " -> " + type +
           "\n";
  };
  return "seq.weight @table source(\"table\") : " + table +
         "\nseq.weight @up source(\"up\") : " + up +
         "\nseq.weight @down source(\"down\") : " + down +
         "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) "
         "-> " +
         e + " {\n  %table = seq.parameter @table : " + table +
         "\n  %up = seq.parameter @up : " + up +
         "\n  %down = seq.parameter @down : " + down +
         "\n  %x = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
         ") -> " + x + "\n  %p = seq.linear %x, %up : (" + x + ", " + up +
         ") -> " + all + "\n" + slice("a", 0, kMultiplied, a) +
         slice("e", kMultiplied, kExponents, e) + "  %h = seq.silu %a : " + a +
         "\n  %z = seq.linear %h, %down : (" + a + ", " + down + ") -> " + e +
         "\n  %f = seq.exp %e : " + e + "\n  %y = seq.mul %z, %f : " + e +
         "\n  %out = seq.select_rows %y, %rows : (" + e +
         ", tensor<?xi32>) -> " + e + "\n  return %out : " + e + "\n}\n";
}

struct Outcome {
  std::vector<float> rows;
  bool isSplit;
};

Outcome run(bool narrow) {
  TestModel model(modelText());
  PipelineOptions options;
  options.products = Products::BF16;
  options.narrowResults = narrow;
  options.prefillRows = {kRows};
  options.decodeRows = {1};
  PlanRunner runner(model, options, /*slots=*/1);
  EXPECT_EQ(model.getErrors(), "");
  Random random(5);
  for (auto [name, size] : {std::pair("table", kRows * kChannels),
                            {"up", (kMultiplied + kExponents) * kChannels},
                            {"down", kExponents * kMultiplied}}) {
    std::vector<float> elements;
    for (int64_t i = 0; i < size; ++i)
      elements.push_back(roundToBf16(pickReal(random, -0.4, 0.4)));
    runner.setWeight(name, elements);
  }
  std::vector<int32_t> tokens(kRows);
  std::iota(tokens.begin(), tokens.end(), 0);
  return {runner.prefill(PlanRunner::Segment{.tokens = tokens}),
          model.getRemarks().contains("split in front of output 96")};
}

TEST(SplitProducts, GiveWhatWholeOnesGive) {
  Outcome narrow = run(true), wide = run(false);
  EXPECT_EQ(narrow.isSplit, testTarget().device != tile::Device::Host);
  EXPECT_FALSE(wide.isSplit);
  ASSERT_EQ(narrow.rows.size(), size_t(kRows * kExponents));
  SmallVector<double> expected(wide.rows.begin(), wide.rows.end());
  ASSERT_EQ(narrow.rows.size(), expected.size());
  EXPECT_TRUE(
      llvm::any_of(expected, [](double y) { return std::fabs(y) > 0.1; }));
  // Rows that are rounded to bf16 once more.
  EXPECT_LE(errorOf(narrow.rows, expected), 0x1p-7);
}

} // namespace
