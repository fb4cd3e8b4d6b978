// Chunks of the length that is chosen, of heads of whole panels, agree with the
// definition in every kind of products: warp groups multiply where the target
// has them and products are rounded to 16 bits.
#include "test/unit/codegen/host/CaseExport.h"
#include "test/unit/contract/NumberedText.h"
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

constexpr int64_t kRows = 37, kHeads = 2, kValues = 64, kEntry = 192;

/// A mixer of %q, %k and %v, and of %g, which has a number for each head.
struct Mixer {
  const char *name;
  int64_t keys;
  int64_t chunk; ///< that a GPU chooses
  const char *text;
};

constexpr Mixer kMixers[] = {{"decays_per_head", 128, 64, R"(
  %y, %next = seq.gated_retention %q, %k, %v, %g state(%s) {scale = 0.125 : f64, temperature = 16.0 : f64}
      : (tensor<?x2xKEYSxf32>, tensor<?x2xKEYSxf32>, tensor<?x2x64xf32>, tensor<?x2xf32>, tensor<2xKEYSx64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2xKEYSx64xf32>)
)"},
                             {"no_decay", 256, 32, R"(
  %y, %next = seq.linear_attention %q, %k, %v state(%s) {scale = 0.125 : f64}
      : (tensor<?x2xKEYSxf32>, tensor<?x2xKEYSxf32>, tensor<?x2x64xf32>, tensor<2xKEYSx64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2xKEYSx64xf32>)
)"},
                             {"corrections", 64, 16, R"(
  %y, %next = seq.delta_rule %q, %k, %v, %g state(%s) {scale = 0.125 : f64}
      : (tensor<?x2xKEYSxf32>, tensor<?x2xKEYSxf32>, tensor<?x2x64xf32>, tensor<?x2xf32>, tensor<2xKEYSx64xf32>)
      -> (tensor<?x2x64xf32>, tensor<2xKEYSx64xf32>)
)"}};

std::string modelText(const Mixer &mixer) {
  std::string text = R"(
seq.weight @table source("table") : tensor<37xWIDTHxf32>
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2xKEYSx64xf32> {seq.state_name = "s"})
    -> (tensor<?x128xf32>, tensor<2xKEYSx64xf32>) {
  %table = seq.parameter @table : tensor<37xWIDTHxf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<37xWIDTHxf32>) -> tensor<?xWIDTHxf32>
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = BOTH : i64} : tensor<?xWIDTHxf32> -> tensor<?xBOTHxf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = BOTH : i64, size = BOTH : i64} : tensor<?xWIDTHxf32> -> tensor<?xBOTHxf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = VALUES : i64, size = 128 : i64} : tensor<?xWIDTHxf32> -> tensor<?x128xf32>
  %g = seq.slice %in {axis = 1 : i64, offset = GATE : i64, size = 2 : i64} : tensor<?xWIDTHxf32> -> tensor<?x2xf32>
  %q = seq.reshape %q0 : tensor<?xBOTHxf32> -> tensor<?x2xKEYSxf32>
  %k = seq.reshape %k0 : tensor<?xBOTHxf32> -> tensor<?x2xKEYSxf32>
  %v = seq.reshape %v0 : tensor<?x128xf32> -> tensor<?x2x64xf32>
)";
  text += mixer.text;
  text += R"(
  %y0 = seq.reshape %y : tensor<?x2x64xf32> -> tensor<?x128xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x128xf32>, tensor<?xi32>) -> tensor<?x128xf32>
  return %out, %next : tensor<?x128xf32>, tensor<2xKEYSx64xf32>
}
)";
  int64_t both = kHeads * mixer.keys;
  return withNumbers(std::move(text),
                     {{"WIDTH", 2 * both + kHeads * kValues + kHeads},
                      {"BOTH", both},
                      {"VALUES", 2 * both},
                      {"GATE", 2 * both + kHeads * kValues},
                      {"KEYS", mixer.keys}});
}

using Case = std::tuple<Mixer, Products>;

class ChunkProducts : public testing::TestWithParam<Case> {};

// Queries, keys, values, scores and states are rounded for products, each by
// 2^-9 of it at most where to bf16, by an eighth of that to f16 or tf32; a
// correction reads the state twice.
TEST_P(ChunkProducts, AgreeWithTheDefinition) {
  auto [mixer, products] = GetParam();
  bool isGpu = testTarget().device == tile::Device::Nvptx;
  bool rounds = isGpu && products != Products::F32;
  double loss = !rounds ? 0 : products == Products::BF16 ? 0x1p-9 : 0x1p-12;
  TestModel model(modelText(mixer));
  llvm::StringMap<std::vector<float>> weights;
  std::mt19937_64 random(20261124);
  // Keys short enough for rates of correction up to 1.
  std::uniform_real_distribution<float> element(-0.2f, 0.2f);
  int64_t width = 2 * kHeads * mixer.keys + kHeads * kValues + kHeads;
  for (int64_t i = 0; i < kRows * width; ++i)
    weights["table"].push_back(element(random));
  PipelineOptions options;
  options.products = products;
  options.prefillRows = {kEntry};
  options.decodeRows = {1};
  options.bitStable = false;
  int64_t chunk = 0, together = 0;
  PlanRunner runner(model, options, /*slots=*/2, [&](ModuleOp module) {
    module.walk([&](tile::DotOp dot) {
      auto layout =
          dyn_cast_or_null<tile::SharedAttr>(dot.getB().getType().getLayout());
      together += layout && layout.getSwizzled();
      // A product of a chunk's tokens by themselves.
      if (dot.getTransposeB() && dot.getA().getType().columns() == mixer.keys)
        chunk = std::max(chunk, dot.getA().getType().rows());
    });
  });
  ASSERT_EQ(model.getErrors(), "");
  bool isExport = CaseExport::isAsked(); // nothing is computed here then
  if (isGpu && !isExport)
    EXPECT_EQ(chunk, mixer.chunk);
  EXPECT_EQ(together > 0, rounds && products != Products::TF32 &&
                              testTarget().hasUnit(tile::getWgmma) &&
                              !isExport);
  runner.setWeight("table", weights["table"]);
  Tokens tokens = tokensOf(21 + 150 + 1, 3, kRows);
  std::vector<float> found;
  for (auto [from, to] : {std::pair(0, 21), std::pair(21, 171)})
    llvm::append_range(found, runner.prefill(segmentOf(0, tokens, from, to)));
  llvm::append_range(found, runner.decode(segmentOf(0, tokens, 171, 172)));
  int64_t count = tokens.size();
  std::vector<Datum<double>> inputs = {
      Tensor<int32_t>({count}, tokens), countFromZero(count),
      Tensor<double>({kHeads, mixer.keys, kValues})};
  auto outputs = model.evaluate(inputs, weights);
  if (isExport)
    return;
  double error =
      errorOf(found, std::get<Tensor<double>>(outputs[0]).elements().vec());
  std::printf("largest relative error %.1e\n", error);
  EXPECT_LE(error, 4 * loss + 1e-5);
  EXPECT_GE(error, loss / 4);
}

INSTANTIATE_TEST_SUITE_P(
    , ChunkProducts,
    testing::Combine(testing::ValuesIn(kMixers),
                     testing::Values(Products::F32, Products::TF32,
                                     Products::BF16, Products::F16)),
    [](const testing::TestParamInfo<Case> &info) {
      return std::string(std::get<0>(info.param).name) + "_" +
             nameOf(std::get<1>(info.param)).str();
    });

} // namespace
