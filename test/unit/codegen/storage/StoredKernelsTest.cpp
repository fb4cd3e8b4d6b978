// Kernels that read weights in blocks, for the host or EFFC_TEST_TARGET: a look-up of
// rows, products and a head agree with the reference on the numbers that decoders of
// the public layouts give.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/dialects/storage/PublishedBlocks.h"

#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;

namespace {

struct Shape {
  int64_t vocabulary, width, inner;
};

std::string model(const std::string &type, Shape s) {
  auto n = [](int64_t number) { return std::to_string(number); };
  auto weight = [&](int64_t rows, int64_t columns) {
    return "tensor<" + n(rows) + "x" + n(columns) + "x" + type + ">";
  };
  auto rows = [&](int64_t width) { return "tensor<?x" + n(width) + "xf32>"; };
  std::string text;
  std::pair<const char *, std::string> weights[] = {
      {"table", weight(s.vocabulary, s.width)},
      {"up", weight(s.inner, s.width)},
      {"down", weight(s.width, s.inner)}};
  std::string parameters;
  for (const auto &[name, shape] : weights) {
    text += std::string("seq.weight @") + name + " source(\"" + name +
            "\") : " + shape + "\n";
    parameters += std::string("  %") + name + " = seq.parameter @" + name +
                  " : " + shape + "\n";
  }
  return text +
         "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) "
         "-> " +
         rows(s.vocabulary) + " {\n" + parameters +
         "  %x = seq.embedding %tokens, %table : (tensor<?xi32>, " +
         weights[0].second + ") -> " + rows(s.width) +
         "\n  %u = seq.linear %x, %up : (" + rows(s.width) + ", " +
         weights[1].second + ") -> " + rows(s.inner) +
         "\n  %a = seq.silu %u : " + rows(s.inner) +
         "\n  %y = seq.linear %a, %down : (" + rows(s.inner) + ", " +
         weights[2].second + ") -> " + rows(s.width) +
         "\n  %chosen = seq.select_rows %y, %rows : (" + rows(s.width) +
         ", tensor<?xi32>) -> " + rows(s.width) +
         "\n  %out = seq.lm_head %chosen, %table : (" + rows(s.width) + ", " +
         weights[0].second + ") -> " + rows(s.vocabulary) +
         "\n  return %out : " + rows(s.vocabulary) + "\n}\n";
}

/// Runs the model with random blocks, of a seed of its own, beside the reference.
void compare(const PublishedBlock &block, storage::BlockType type,
             const Shape &shape, bool bundles) {
  std::string spelling;
  llvm::raw_string_ostream(spelling) << type;
  int64_t each = type.getElements();
  TestModel text(model(spelling, shape));
  ASSERT_EQ(text.getErrors(), "");
  PipelineOptions options;
  options.prefillRows = {16, 64};
  options.decodeRows = {1, 3};
  options.bundles = bundles;
  PlanRunner runner(text, options, /*slots=*/2);
  std::mt19937_64 random(7);
  llvm::StringMap<std::vector<float>> weights;
  for (auto weight : text.get().getOps<seq::WeightOp>()) {
    auto tensor = llvm::cast<mlir::RankedTensorType>(weight.getType());
    size_t count = size_t(tensor.getNumElements() / each);
    auto bytes = randomBlocks(block, type.getBytes(), count, random, 0.004f);
    std::vector<float> &numbers = weights[weight.getSymName()];
    numbers.resize(tensor.getNumElements());
    for (size_t i = 0; i < count; ++i)
      block.decode(bytes.data() + i * type.getBytes(),
                   numbers.data() + i * each);
    runner.setStoredWeight(weight.getSymName(), bytes);
  }
  std::vector<int32_t> tokens = {3, 1, 18, 0, 7, 7, 12, 5,  9,  16,
                                 2, 4, 6,  8, 1, 0, 11, 17, 10, 13};
  auto check = [&](const std::vector<float> &found,
                   const std::vector<int32_t> &of) {
    Tensor<int32_t> ids({int64_t(of.size())}, of);
    std::vector<int32_t> numbers(of.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    auto results = text.evaluate(
        {ids, Tensor<int32_t>({int64_t(of.size())}, numbers)}, weights);
    const auto &expected = std::get<Tensor<double>>(results.front()).elements();
    ASSERT_EQ(found.size(), expected.size());
    double largest = 0, difference = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_FALSE(std::isnan(found[i]));
      largest = std::max(largest, std::fabs(expected[i]));
      difference = std::max(difference, std::fabs(found[i] - expected[i]));
    }
    ASSERT_GT(largest, 0);
    EXPECT_LE(difference, 1e-5 * largest);
  };
  check(runner.prefill({{.tokens = tokens}}), tokens);
  check(runner.decode({{.tokens = {18}}}), {18});
}

class StoredKernels : public testing::TestWithParam<PublishedBlock> {};

// Blocks by themselves. Sizes: all different, one block a row and several, rows that no
// tile of a kernel divides.
TEST_P(StoredKernels, AgreeWithThePublicLayout) {
  mlir::MLIRContext context;
  storage::BlockType type = typeOf(GetParam(), context);
  ASSERT_TRUE(type);
  int64_t each = type.getElements();
  compare(GetParam(), type,
          {19, each == 32 ? 96 : each, each == 32 ? 160 : 2 * each},
          /*bundles=*/false);
}

// Rows of whole bundles, which GPUs have: one of 384 elements, or several.
TEST_P(StoredKernels, AgreeInBundles) {
  mlir::MLIRContext context;
  storage::BlockType type = typeOf(GetParam(), context);
  ASSERT_TRUE(type);
  int64_t each = type.getElements();
  compare(GetParam(), type,
          {21, std::lcm(each, int64_t(384)), std::lcm(each, int64_t(640))},
          /*bundles=*/true);
}

INSTANTIATE_TEST_SUITE_P(Published, StoredKernels,
                         testing::ValuesIn(publishedBlocks()), testName);
INSTANTIATE_TEST_SUITE_P(Grouped, StoredKernels,
                         testing::ValuesIn(groupedBlocks()), testName);

} // namespace
