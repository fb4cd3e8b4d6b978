// Matrices of blocks that a kernel unpacks ahead of products give the bits of a model whose
// checkpoint has the same matrices in bf16 or f16: two products with parts of one weight,
// and one with a whole one, of many rows and of some. The numbers are those of decoders
// of the public layouts.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/NarrowNumbers.h"
#include "test/unit/dialects/storage/PublishedBlocks.h"

#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace effc;
using namespace effc::test;
using Segment = PlanRunner::Segment;

namespace {

// A tile of rows and a part of one.
constexpr int64_t kTokens = 83;

/// Channels of a token, hidden ones, outputs and logits: whole blocks, and matrices that
/// are large enough for a launch of their own (`paysToUnpack`).
struct Shape {
  int64_t width, hidden, outputs, logits = 24;

  explicit Shape(int64_t block)
      : width(llvm::alignTo(640, block)),
        hidden(llvm::alignTo(width + 256, block)),
        outputs(llvm::alignTo(hidden + 256, block)) {}
};

/// With matrices of `element`; the head, which no kernel unpacks ahead, stays in blocks.
std::string modelText(const std::string &element, const std::string &ofHead,
                      const Shape &s) {
  auto matrix = [](int64_t rows, int64_t columns, const std::string &type) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
           "x" + type + ">";
  };
  auto rows = [](int64_t width) {
    return "tensor<?x" + std::to_string(width) + "xf32>";
  };
  std::string table = matrix(kTokens, s.width, "f32"),
              both = matrix(2 * s.hidden, s.width, element),
              half = matrix(s.hidden, s.width, element),
              down = matrix(s.outputs, s.hidden, element),
              head = matrix(s.logits, s.outputs, ofHead);
  std::string weights, parameters;
  for (auto &[name, type] : {std::pair("table", table),
                             {"both", both},
                             {"down", down},
                             {"head", head}}) {
    weights += std::string("seq.weight @") + name + " source(\"" + name +
               "\") : " + type + "\n";
    parameters += std::string("  %") + name + " = seq.parameter @" + name +
                  " : " + type + "\n";
  }
  auto part = [&](const char *name, int64_t offset) {
    return std::string("  %") + name +
           " = seq.slice %both {axis = 0 : i64, offset = " +
           std::to_string(offset) +
           " : i64, size = " + std::to_string(s.hidden) + " : i64} : " + both +
           " -> " + half + "\n";
  };
  auto product = [](const std::string &result, const std::string &operands,
                    const std::string &xType, const std::string &wType,
                    const std::string &type) {
    return "  %" + result + " = seq." + operands + " : (" + xType + ", " +
           wType + ") -> " + type + "\n";
  };
  std::string x = rows(s.width), h = rows(s.hidden), y = rows(s.outputs),
              out = rows(s.logits);
  return weights +
         "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) "
         "-> " +
         out + " {\n" + parameters + part("gate", 0) + part("up", s.hidden) +
         product("x", "embedding %tokens, %table", "tensor<?xi32>", table, x) +
         product("g", "linear %x, %gate", x, half, h) +
         product("u", "linear %x, %up", x, half, h) +
         "  %a = seq.silu %g : " + h + "\n  %h = seq.mul %a, %u : " + h + "\n" +
         product("y", "linear %h, %down", h, down, y) +
         product("r", "select_rows %y, %rows", y, "tensor<?xi32>", y) +
         product("out", "lm_head %r, %head", y, head, out) +
         "  return %out : " + out + "\n}\n";
}

struct Outcome {
  std::vector<float> logits;
  int64_t unpacked = 0; ///< matrices, in all entries
};

/// `isNarrow`: of the model with bf16 or f16 in place of blocks.
Outcome run(const PublishedBlock &block, Products products, bool isNarrow) {
  mlir::MLIRContext context;
  storage::BlockType type = typeOf(block, context);
  std::string spelling;
  llvm::raw_string_ostream(spelling) << type;
  bool isHalf = products == Products::F16;
  Shape shape(type.getElements());
  TestModel model(modelText(!isNarrow ? spelling
                            : isHalf  ? "f16"
                                      : "bf16",
                            spelling, shape));
  PipelineOptions options;
  options.products = products;
  options.prefillRows = {kTokens};
  options.decodeRows = {8};
  Outcome outcome;
  PlanRunner runner(model, options, /*slots=*/8, [&](mlir::ModuleOp module) {
    module.walk([&](plan::LaunchOp launch) {
      outcome.unpacked += launch.getKernel().starts_with("unpacked");
    });
  });
  EXPECT_EQ(model.getErrors(), "");
  std::mt19937_64 random(11);
  std::vector<float> table;
  for (int64_t i = 0; i < kTokens * shape.width; ++i)
    table.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
  runner.setWeight("table", table);
  for (auto [name, elements] :
       {std::pair("both", 2 * shape.hidden * shape.width),
        {"down", shape.outputs * shape.hidden},
        {"head", shape.logits * shape.outputs}}) {
    size_t count = size_t(elements / type.getElements());
    std::vector<uint8_t> bytes =
        randomBlocks(block, type.getBytes(), count, random, 0.0004f);
    if (!isNarrow || name == llvm::StringRef("head")) {
      runner.setStoredWeight(name, bytes);
      continue;
    }
    std::vector<float> numbers(elements);
    for (size_t i = 0; i < count; ++i)
      block.decode(bytes.data() + i * type.getBytes(),
                   numbers.data() + i * type.getElements());
    for (float &number : numbers)
      number = isHalf ? roundToF16(number) : roundToBf16(number);
    runner.setWeight(name, numbers);
  }
  std::vector<int32_t> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  outcome.logits = runner.prefill(Segment{.tokens = tokens});
  std::vector<Segment> some;
  for (int32_t slot = 0; slot < 5; ++slot)
    some.push_back({.slot = slot, .tokens = {11 + 13 * slot}});
  llvm::append_range(outcome.logits, runner.decode(some));
  EXPECT_EQ(outcome.logits.size(), size_t((kTokens + 5) * shape.logits));
  return outcome;
}

class UnpackedWeights
    : public testing::TestWithParam<std::tuple<PublishedBlock, Products>> {};

TEST_P(UnpackedWeights, HaveTheBitsOfACheckpointThatHasThemSo) {
  auto [block, products] = GetParam();
  Outcome blocks = run(block, products, /*isNarrow=*/false),
          narrow = run(block, products, /*isNarrow=*/true);
  // Two matrices of each entry.
  EXPECT_EQ(blocks.unpacked, 4);
  EXPECT_EQ(narrow.unpacked, 0);
  EXPECT_EQ(blocks.logits, narrow.logits);
  float largest = 0;
  for (float logit : narrow.logits) {
    ASSERT_TRUE(std::isfinite(logit));
    largest = std::max(largest, std::fabs(logit));
  }
  EXPECT_GT(largest, 0);
}

std::string nameOfCase(
    const testing::TestParamInfo<std::tuple<PublishedBlock, Products>> &info) {
  return std::string(std::get<0>(info.param).name) + "_" +
         nameOf(std::get<1>(info.param)).str();
}

INSTANTIATE_TEST_SUITE_P(Published, UnpackedWeights,
                         testing::Combine(testing::ValuesIn(publishedBlocks()),
                                          testing::Values(Products::BF16)),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(Grouped, UnpackedWeights,
                         testing::Combine(testing::ValuesIn(groupedBlocks()),
                                          testing::Values(Products::BF16)),
                         nameOfCase);
INSTANTIATE_TEST_SUITE_P(
    Halves, UnpackedWeights,
    testing::Combine(testing::Values(publishedBlocks().front()),
                     testing::Values(Products::F16)),
    nameOfCase);

} // namespace
