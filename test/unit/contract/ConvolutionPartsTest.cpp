// A short convolution whose rows several items of a GPU share: every row of
// every sequence of a call is the sum of the formula, and the tail is that of
// the sequence's end, wherever it was cut. Lengths end in front of a tile, at
// its end and behind it; some have fewer rows than the tail.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/RetrievalCase.h"

#include "gtest/gtest.h"

#include <optional>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kTaps = 4, kChannels = 40, kTokens = 53;

const char kModel[] = R"mlir(
seq.weight @table source("table") : tensor<53x40xf32>
seq.weight @taps source("taps") : tensor<4x40xf32>
seq.weight @bias source("bias") : tensor<40xf32>
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
    %tail: tensor<3x40xf32> {seq.state_name = "tail"})
    -> (tensor<?x40xf32>, tensor<3x40xf32>) {
  %table = seq.parameter @table : tensor<53x40xf32>
  %taps = seq.parameter @taps : tensor<4x40xf32>
  %bias = seq.parameter @bias : tensor<40xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<53x40xf32>) -> tensor<?x40xf32>
  %y, %next = seq.short_convolution %x parameters(%taps, %bias) state(%tail)
      {activation = #seq.activation<none>}
      : tensor<?x40xf32>, (tensor<4x40xf32>, tensor<40xf32>), tensor<3x40xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x40xf32>, tensor<?xi32>) -> tensor<?x40xf32>
  return %out, %next : tensor<?x40xf32>, tensor<3x40xf32>
}
)mlir";

std::vector<float> draw(Random &random, int64_t count) {
  std::vector<float> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(pickReal(random, -1, 1));
  return elements;
}

struct ConvolutionParts : testing::Test {
  ConvolutionParts() : model(kModel), random(7) {
    PipelineOptions options;
    options.prefillRows = {64, 512};
    options.decodeRows = {1};
    runner.emplace(model, options, /*slots=*/4);
    table = draw(random, kTokens * kChannels);
    taps = draw(random, kTaps * kChannels);
    bias = draw(random, kChannels);
    runner->setWeight("table", table);
    runner->setWeight("taps", taps);
    runner->setWeight("bias", bias);
  }

  /// x of a sequence's token `t`: 0 before it begins.
  double input(const std::vector<int32_t> &tokens, int64_t t, int64_t channel) {
    return t < 0 ? 0 : table[tokens[t] * kChannels + channel];
  }

  /// Feeds `lengths[i]` tokens more to the sequence of slot i, in one call.
  void feed(ArrayRef<int64_t> lengths) {
    std::vector<Segment> call;
    std::vector<double> expected;
    for (auto [slot, length] : llvm::enumerate(lengths)) {
      if (length == 0)
        continue;
      std::vector<int32_t> &tokens = sequences[slot];
      int64_t start = tokens.size();
      for (int64_t i = 0; i < length; ++i)
        tokens.push_back(pick(random, 0, kTokens - 1));
      call.push_back({.slot = int32_t(slot),
                      .start = start,
                      .begins = start == 0,
                      .tokens = {tokens.begin() + start, tokens.end()}});
      for (int64_t t = start; t < start + length; ++t)
        for (int64_t c = 0; c < kChannels; ++c) {
          double sum = bias[c];
          for (int64_t tap = 0; tap < kTaps; ++tap)
            sum += double(taps[tap * kChannels + c]) *
                   input(tokens, t - (kTaps - 1) + tap, c);
          expected.push_back(sum);
        }
    }
    EXPECT_LE(errorOf(runner->prefill(call), expected), 1e-6);
    for (const Segment &segment : call) {
      const std::vector<int32_t> &tokens = sequences[segment.slot];
      std::vector<float> tail;
      for (int64_t i = 1 - kTaps; i < 0; ++i)
        for (int64_t c = 0; c < kChannels; ++c)
          tail.push_back(input(tokens, int64_t(tokens.size()) + i, c));
      EXPECT_EQ(runner->readState("tail", segment.slot), tail)
          << "slot " << segment.slot;
    }
  }

  TestModel model;
  Random random;
  std::optional<PlanRunner> runner;
  std::vector<float> table, taps, bias;
  std::vector<int32_t> sequences[4];
};

} // namespace

TEST_F(ConvolutionParts, HaveTheRowsAndTailsOfWholeSequences) {
  ASSERT_EQ(model.getErrors(), "");
  // One sequence that has a tile for each of several items, and its rest.
  feed({449});
  feed({1});
  feed({62});
  // Lengths around a tile, and of fewer rows than the tail.
  feed({63, 64, 65, 2});
  feed({128, 129, 1, 1});
  feed({3, 0, 191, 66});
}
