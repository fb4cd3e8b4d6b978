// Chunks of any length agree with the definition where decays per head are mild,
// 1, and so strong that nothing is left: decays between tokens are made of runs
// of eight, of which lengths here are a part, one, some, and some and a part.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/Sequences.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;

namespace {

constexpr int64_t kRows = 41, kHeads = 2, kKeys = 12, kValues = 20,
                  kWidth = kHeads * (2 * kKeys + kValues + 1);

constexpr const char *kBefore = R"(
seq.weight @table source("table") : tensor<41x90xf32>
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x12x20xf32> {seq.state_name = "s"})
    -> (tensor<?x40xf32>, tensor<2x12x20xf32>) {
  %table = seq.parameter @table : tensor<41x90xf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<41x90xf32>) -> tensor<?x90xf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 24 : i64} : tensor<?x90xf32> -> tensor<?x24xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 24 : i64, size = 24 : i64} : tensor<?x90xf32> -> tensor<?x24xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 48 : i64, size = 40 : i64} : tensor<?x90xf32> -> tensor<?x40xf32>
  %q = seq.reshape %q0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  %k = seq.reshape %k0 : tensor<?x24xf32> -> tensor<?x2x12xf32>
  %v = seq.reshape %v0 : tensor<?x40xf32> -> tensor<?x2x20xf32>
)",
                     *kGated = R"(
  %g = seq.slice %in {axis = 1 : i64, offset = 88 : i64, size = 2 : i64} : tensor<?x90xf32> -> tensor<?x2xf32>
  %y, %next = seq.gated_retention %q, %k, %v, %g state(%s) {scale = 0.125 : f64, temperature = 16.0 : f64}
      : (tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x20xf32>, tensor<?x2xf32>, tensor<2x12x20xf32>)
      -> (tensor<?x2x20xf32>, tensor<2x12x20xf32>)
)",
                     *kConstant = R"(
  %decay = seq.parameter @decay : tensor<2xf32>
  %y, %next = seq.retention %q, %k, %v parameters(%decay) state(%s) {scale = 0.125 : f64}
      : (tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x20xf32>, tensor<2xf32>, tensor<2x12x20xf32>)
      -> (tensor<?x2x20xf32>, tensor<2x12x20xf32>)
)",
                     *kAfter = R"(
  %y0 = seq.reshape %y : tensor<?x2x20xf32> -> tensor<?x40xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x40xf32>, tensor<?xi32>) -> tensor<?x40xf32>
  return %out, %next : tensor<?x40xf32>, tensor<2x12x20xf32>
}
)";

std::string textOf(const char *mixer) {
  return std::string(kBefore) + mixer + kAfter;
}

class ChunkLengths : public testing::TestWithParam<int64_t> {};

TEST_P(ChunkLengths, AgreeWithTheDefinition) {
  TestModel model(textOf(kGated));
  llvm::StringMap<std::vector<float>> weights;
  std::mt19937_64 random(20261124);
  std::uniform_real_distribution<float> element(-1, 1);
  // Logits of decays: of 1 and a little less, so that tokens see far, and of 0,
  // whose logarithms are minus infinity, -6e28 and -1e4: in three of 41 tokens.
  constexpr float kMild[] = {90, 4, -2, 0.5f};
  constexpr float kStrong[] = {-INFINITY, -1e30f, -1.6e5f};
  auto gateOf = [&](int64_t row, int64_t head) {
    bool isStrong = (row + 7 * head) % 14 == 3;
    return isStrong ? kStrong[row / 14] : kMild[random() % std::size(kMild)];
  };
  constexpr int64_t kNumbers = kWidth - kHeads; // before the gates
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t column = 0; column < kWidth; ++column)
      weights["table"].push_back(
          column < kNumbers ? element(random) : gateOf(row, column - kNumbers));
  int64_t chunk = GetParam();
  PipelineOptions options;
  options.forceForm = {seq::FormKind::Chunkwise, chunk};
  options.prefillRows = {3 * chunk};
  options.decodeRows = {1};
  options.bitStable = false;
  bool isChunked = false;
  PlanRunner runner(model, options, /*slots=*/1, [&](ModuleOp module) {
    module.walk([&](tile::SegmentDecayOp decay) {
      isChunked |= decay.getTile().getType().rows() == chunk;
    });
  });
  ASSERT_EQ(model.getErrors(), "");
  EXPECT_TRUE(isChunked);
  runner.setWeight("table", weights["table"]);
  // Begins and ends inside of chunks.
  int64_t first = chunk + chunk / 2 + 1, count = first + 2 * chunk - 1;
  Tokens tokens = tokensOf(count, 3, kRows);
  std::vector<float> found = runner.prefill(segmentOf(0, tokens, 0, first));
  llvm::append_range(found, runner.prefill(segmentOf(0, tokens, first, count)));
  std::vector<Datum<double>> inputs = {
      Tensor<int32_t>({count}, tokens), countFromZero(count),
      Tensor<double>({kHeads, kKeys, kValues})};
  auto outputs = model.evaluate(inputs, weights);
  double error =
      errorOf(found, std::get<Tensor<double>>(outputs[0]).elements().vec());
  std::printf("largest relative error %.1e\n", error);
  EXPECT_LE(error, 5e-6);
}

// Log-decays of 40 per token in one head pass the range of f32 behind its second
// token: factors of decays are infinite, and those above the diagonal are 0.
TEST(ChunkOverflow, LeavesTheTokensBeforeAlone) {
  TestModel model("seq.weight @decay source(\"decay\") : tensor<2xf32>" +
                  textOf(kConstant));
  llvm::StringMap<std::vector<float>> weights;
  std::mt19937_64 random(20261125);
  std::uniform_real_distribution<float> element(-1, 1);
  for (int64_t i = 0; i < kRows * kWidth; ++i)
    weights["table"].push_back(element(random));
  weights["decay"] = {40, -0.5f};
  PipelineOptions options;
  options.forceForm = {seq::FormKind::Chunkwise, 24};
  options.prefillRows = {24};
  options.decodeRows = {1};
  options.bitStable = false;
  PlanRunner runner(model, options, /*slots=*/1);
  ASSERT_EQ(model.getErrors(), "");
  for (const auto &[name, elements] : weights)
    runner.setWeight(name, elements);
  constexpr int64_t kCount = 19;
  Tokens tokens = tokensOf(kCount, 3, kRows);
  std::vector<float> found = runner.prefill(segmentOf(0, tokens, 0, kCount));
  std::vector<Datum<double>> inputs = {
      Tensor<int32_t>({kCount}, tokens), countFromZero(kCount),
      Tensor<double>({kHeads, kKeys, kValues})};
  auto outputs = model.evaluate(inputs, weights);
  llvm::ArrayRef<double> expected =
      std::get<Tensor<double>>(outputs[0]).elements();
  for (int64_t token = 0; token < kCount; ++token)
    for (int64_t head = token < 2 ? 0 : 1; head < kHeads; ++head) {
      SCOPED_TRACE(testing::Message() << "token " << token << " head " << head);
      int64_t first = (token * kHeads + head) * kValues;
      EXPECT_LE(errorOf(llvm::ArrayRef(found).slice(first, kValues),
                        expected.slice(first, kValues)),
                5e-6);
    }
}

INSTANTIATE_TEST_SUITE_P(, ChunkLengths,
                         testing::Values(5, 8, 12, 24, 40, 64, 128),
                         testing::PrintToStringParamName());

} // namespace
