// Products of two rows, so many outputs that each of a GPU's items is a warp's.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/RetrievalCase.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

/// An H100's 132 cores have 16 warps each for 2,112 items of 2 outputs. Here are 2,114, of
/// which the last has one output.
constexpr int64_t kChannels = 512, kOutputs = 4227, kTokens = 7;

const char kModel[] = R"mlir(
seq.weight @table source("table") : tensor<7x512xf32>
seq.weight @w source("w") : tensor<4227x512xf32>
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x4227xf32> {
  %table = seq.parameter @table : tensor<7x512xf32>
  %w = seq.parameter @w : tensor<4227x512xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<7x512xf32>) -> tensor<?x512xf32>
  %y = seq.linear %x, %w : (tensor<?x512xf32>, tensor<4227x512xf32>) -> tensor<?x4227xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x4227xf32>, tensor<?xi32>) -> tensor<?x4227xf32>
  return %out : tensor<?x4227xf32>
}
)mlir";

std::vector<float> pick(Random &random, int64_t size) {
  std::vector<float> elements;
  for (int64_t i = 0; i < size; ++i)
    elements.push_back(float(pickReal(random, -1, 1)));
  return elements;
}

// Against sums in double: f32 sums of n terms, whatever their order, differ from them by
// at most n units of 2^-24 of the sum of the terms' sizes.
TEST(TwoRows, AreSumsOfProducts) {
  TestModel model(kModel);
  PipelineOptions options;
  options.prefillRows = {16};
  options.decodeRows = {1, 2};
  options.products = Products::Exact;
  PlanRunner runner(model, options, /*slots=*/2);
  ASSERT_EQ(model.getErrors(), "");
  Random random(5);
  std::vector<float> table = pick(random, kTokens * kChannels),
                     w = pick(random, kOutputs * kChannels);
  runner.setWeight("table", table);
  runner.setWeight("w", w);
  for (std::vector<int32_t> tokens :
       {std::vector<int32_t>{3, 6}, std::vector<int32_t>{4}}) {
    std::vector<PlanRunner::Segment> call;
    for (size_t i = 0; i < tokens.size(); ++i)
      call.push_back({.slot = int32_t(i),
                      .start = 0,
                      .begins = true,
                      .tokens = {tokens[i]}});
    std::vector<float> rows = runner.decode(call);
    ASSERT_EQ(rows.size(), tokens.size() * kOutputs);
    for (size_t i = 0; i < tokens.size(); ++i)
      for (int64_t output = 0; output < kOutputs; ++output) {
        double sum = 0, sizes = 0;
        for (int64_t channel = 0; channel < kChannels; ++channel) {
          double term = double(table[tokens[i] * kChannels + channel]) *
                        w[output * kChannels + channel];
          sum += term;
          sizes += std::abs(term);
        }
        ASSERT_NEAR(rows[i * kOutputs + output], sum,
                    kChannels * std::ldexp(sizes, -24))
            << "row " << i << ", output " << output;
      }
  }
}

} // namespace
