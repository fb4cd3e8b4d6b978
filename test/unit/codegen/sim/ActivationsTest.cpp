// Activations on the simulated GPU over all of their range, where exponentials
// overflow and vanish, against the reference in double.
#include "test/unit/codegen/host/PlanRunner.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Tensor;

namespace {

constexpr int64_t kRows = 61, kColumns = 24;

class Activations : public testing::TestWithParam<const char *> {};

std::string modelText(const std::string &op) {
  return R"(
module attributes {seq.model = #seq.model<family = "t", vocabulary = 24, width = 24, max_context = 0>} {
  seq.weight @table source("table") : tensor<61x24xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x24xf32> {
    %table = seq.parameter @table : tensor<61x24xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<61x24xf32>) -> tensor<?x24xf32>
    %y = seq.)" +
         op + R"( %x : tensor<?x24xf32>
    %s = seq.select_rows %y, %rows : (tensor<?x24xf32>, tensor<?xi32>) -> tensor<?x24xf32>
    return %s : tensor<?x24xf32>
  }
}
)";
}

} // namespace

TEST_P(Activations, AgreeOverTheirRange) {
  TestModel model(modelText(GetParam()));
  PipelineOptions options;
  options.prefillRows = {64};
  options.decodeRows = {1};
  PlanRunner runner(model, options, /*slots=*/1);
  // From -120 to 120.
  llvm::StringMap<std::vector<float>> weights;
  std::vector<float> &table = weights["table"];
  for (int64_t i = 0; i < kRows * kColumns; ++i)
    table.push_back(-120 + 240.0f * i / (kRows * kColumns - 1));
  runner.setWeight("table", table);
  std::vector<int32_t> tokens(kRows);
  for (int64_t row = 0; row < kRows; ++row)
    tokens[row] = row;
  std::vector<float> found = runner.prefill({{.tokens = tokens}});
  Tensor<int32_t> ids({kRows}, tokens);
  auto exact =
      std::get<Tensor<double>>(model.evaluate({ids, ids}, weights).front());
  ASSERT_EQ(found.size(), table.size());
  for (size_t i = 0; i < found.size(); ++i) {
    double expected = exact.elements()[i];
    // The result's own f32 may be infinite or vanish; gelu_tanh takes the
    // exponential of a cube, of which a rounding is 1e-7 in the exponent.
    if (std::abs(expected) > std::numeric_limits<float>::max()) {
      EXPECT_EQ(found[i], std::copysign(INFINITY, expected)) << table[i];
      continue;
    }
    // A step size is small, and counts as a factor.
    bool isFactor = GetParam() == std::string("softplus") ||
                    GetParam() == std::string("log_sigmoid");
    double least = isFactor ? 0x1p-126 : 1e-6;
    EXPECT_NEAR(found[i], expected, 4e-6 * std::abs(expected) + least)
        << GetParam() << " of " << table[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Activations,
                         testing::Values("silu", "sigmoid", "gelu_tanh", "exp",
                                         "softplus", "log_sigmoid"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });
