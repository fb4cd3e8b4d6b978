// Launches of a step that are joined or chained give what those of a prompt give,
// which are not: the same numbers, and where bits are stable the same bits.
// Convolutions, norms and products are joined, of one tile of rows and of several, norms
// of two widths among them; the two products of a gated layer are chained.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/RetrievalCase.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

/// Rows of a call for prompts, sequences of the largest step, channels of a row, and the
/// outputs of the products: two of one size, which are convolved and normed by one kernel
/// each, two of a gated layer, and two of other sizes, of which one is normed. Two norms
/// behind one another are by one kernel as well.
constexpr int64_t kPrompts = 128, kSequences = 100, kChannels = 192,
                  kAlike = 88, kWide = 152, kGated = 80, kFew = 6, kTaps = 4,
                  kTokens = 31;

const char kModel[] = R"mlir(
seq.weight @table source("table") : tensor<31x192xf32>
seq.weight @wq source("wq") : tensor<88x192xTYPE>
seq.weight @wk source("wk") : tensor<88x192xTYPE>
seq.weight @wv source("wv") : tensor<152x192xTYPE>
seq.weight @wu source("wu") : tensor<80x192xTYPE>
seq.weight @wg source("wg") : tensor<80x192xTYPE>
seq.weight @wb source("wb") : tensor<6x192xTYPE>
seq.weight @wo source("wo") : tensor<6x88xTYPE>
seq.weight @taps_q source("taps_q") : tensor<4x88xf32>
seq.weight @taps_k source("taps_k") : tensor<4x88xf32>
seq.weight @norm source("norm") : tensor<88xf32>
seq.weight @norm_v source("norm_v") : tensor<152xf32>
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>,
    %tq: tensor<3x88xf32> {seq.state_name = "q"},
    %tk: tensor<3x88xf32> {seq.state_name = "k"})
    -> (tensor<?x326xf32>, tensor<3x88xf32>, tensor<3x88xf32>) {
  %table = seq.parameter @table : tensor<31x192xf32>
  %wq = seq.parameter @wq : tensor<88x192xTYPE>
  %wk = seq.parameter @wk : tensor<88x192xTYPE>
  %wv = seq.parameter @wv : tensor<152x192xTYPE>
  %wu = seq.parameter @wu : tensor<80x192xTYPE>
  %wg = seq.parameter @wg : tensor<80x192xTYPE>
  %wb = seq.parameter @wb : tensor<6x192xTYPE>
  %wo = seq.parameter @wo : tensor<6x88xTYPE>
  %taps_q = seq.parameter @taps_q : tensor<4x88xf32>
  %taps_k = seq.parameter @taps_k : tensor<4x88xf32>
  %norm = seq.parameter @norm : tensor<88xf32>
  %norm_v = seq.parameter @norm_v : tensor<152xf32>
  %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<31x192xf32>) -> tensor<?x192xf32>
  %q = seq.linear %x, %wq : (tensor<?x192xf32>, tensor<88x192xTYPE>) -> tensor<?x88xf32> loc("m.q")
  %k = seq.linear %x, %wk : (tensor<?x192xf32>, tensor<88x192xTYPE>) -> tensor<?x88xf32> loc("m.k")
  %v = seq.linear %x, %wv : (tensor<?x192xf32>, tensor<152x192xTYPE>) -> tensor<?x152xf32> loc("m.v")
  %b = seq.linear %x, %wb : (tensor<?x192xf32>, tensor<6x192xTYPE>) -> tensor<?x6xf32> loc("m.b")
  %u = seq.linear %x, %wu : (tensor<?x192xf32>, tensor<80x192xTYPE>) -> tensor<?x80xf32> loc("m.up")
  %g = seq.linear %x, %wg : (tensor<?x192xf32>, tensor<80x192xTYPE>) -> tensor<?x80xf32> loc("m.gate")
  %sg = seq.silu %g : tensor<?x80xf32>
  %h = seq.mul %sg, %u : tensor<?x80xf32>
  %qc, %next_q = seq.short_convolution %q parameters(%taps_q) state(%tq)
      {activation = #seq.activation<silu>}
      : tensor<?x88xf32>, (tensor<4x88xf32>), tensor<3x88xf32>
  %kc, %next_k = seq.short_convolution %k parameters(%taps_k) state(%tk)
      {activation = #seq.activation<silu>}
      : tensor<?x88xf32>, (tensor<4x88xf32>), tensor<3x88xf32>
  %qn = seq.rms_norm %qc, %norm {eps = 1.0e-5 : f64} : tensor<?x88xf32>, tensor<88xf32>
  %kn = seq.rms_norm %kc, %norm {eps = 1.0e-5 : f64} : tensor<?x88xf32>, tensor<88xf32>
  %vn = seq.rms_norm %v, %norm_v {eps = 1.0e-5 : f64} : tensor<?x152xf32>, tensor<152xf32>
  %qk0 = seq.mul %qn, %kn : tensor<?x88xf32>
  %o = seq.linear %qk0, %wo : (tensor<?x88xf32>, tensor<6x88xTYPE>) -> tensor<?x6xf32> loc("m.o")
  %qk1 = seq.rms_norm %qk0, %norm {eps = 1.0e-5 : f64} : tensor<?x88xf32>, tensor<88xf32>
  %qk = seq.rms_norm %qk1, %norm {eps = 1.0e-5 : f64} : tensor<?x88xf32>, tensor<88xf32>
  %s = seq.add %o, %b : tensor<?x6xf32>
  %y = seq.concat %s, %vn, %qk, %h {axis = 1 : i64} : (tensor<?x6xf32>, tensor<?x152xf32>, tensor<?x88xf32>, tensor<?x80xf32>) -> tensor<?x326xf32>
  %out = seq.select_rows %y, %rows : (tensor<?x326xf32>, tensor<?xi32>) -> tensor<?x326xf32>
  return %out, %next_q, %next_k : tensor<?x326xf32>, tensor<3x88xf32>, tensor<3x88xf32>
}
)mlir";

constexpr int64_t kOutputs = kFew + kWide + kAlike + kGated;

std::string modelText(StringRef stored) {
  std::string text = kModel;
  for (size_t at; (at = text.find("TYPE")) != std::string::npos;)
    text.replace(at, 4, stored.str());
  return text;
}

/// Tokens of the sequence that has `slot`, one behind another.
int32_t tokenOf(int64_t slot, int64_t position) {
  return int32_t((7 * slot + 11 * position + slot * position) % kTokens);
}

/// The model, and how many launches of each entry are joined ones.
struct Joined {
  Joined(StringRef stored, bool bitStable) : model(modelText(stored)) {
    PipelineOptions options;
    options.prefillRows = {kPrompts};
    options.decodeRows = {1, 2, 16, kSequences};
    options.bitStable = options.bitStableOnGpu = bitStable;
    options.products = Products::Exact;
    runner.emplace(model, options, kSequences);
    EXPECT_EQ(model.getErrors(), "");
    bool isGpu = testTarget().device != tile::Device::Host;
    StringRef remarks = model.getRemarks();
    EXPECT_EQ(remarks.contains("products, which read the same rows"), isGpu);
    EXPECT_EQ(remarks.contains("one launch of 2 by one kernel"), isGpu);
    EXPECT_EQ(remarks.contains("brief ones, which do alike"), isGpu);
    Random random(29);
    for (auto [name, size] :
         {std::pair<StringRef, int64_t>("table", kTokens * kChannels),
          {"wq", kAlike * kChannels},
          {"wk", kAlike * kChannels},
          {"wv", kWide * kChannels},
          {"wu", kGated * kChannels},
          {"wg", kGated * kChannels},
          {"wb", kFew * kChannels},
          {"wo", kFew * kAlike},
          {"taps_q", kTaps * kAlike},
          {"taps_k", kTaps * kAlike},
          {"norm", kAlike},
          {"norm_v", kWide}}) {
      std::vector<float> elements;
      for (int64_t i = 0; i < size; ++i)
        elements.push_back(
            roundedWeight(float(pickReal(random, -0.6, 0.6)), stored));
      runner->setWeight(name, elements);
    }
  }

  static float roundedWeight(float number, StringRef stored) {
    if (stored == "f32")
      return number;
    return std::ldexp(std::round(std::ldexp(number, 7)), -7);
  }

  /// The outputs of the last of `positions` tokens of the first `count` sequences:
  /// by steps of all of them together.
  std::vector<float> bySteps(int64_t count, int64_t positions) {
    std::vector<float> rows;
    for (int64_t position = 0; position < positions; ++position) {
      std::vector<PlanRunner::Segment> call;
      for (int64_t slot = 0; slot < count; ++slot)
        call.push_back({.slot = int32_t(slot),
                        .start = position,
                        .begins = position == 0,
                        .tokens = {tokenOf(slot, position)}});
      rows = runner->decode(call);
    }
    return rows;
  }

  /// The same by a prompt of each sequence, as many in a call as it has room for.
  std::vector<float> byPrompts(int64_t count, int64_t positions) {
    std::vector<float> rows;
    for (int64_t first = 0; first < count;) {
      std::vector<PlanRunner::Segment> call;
      for (int64_t room = kPrompts; first < count && room >= positions;
           ++first, room -= positions) {
        PlanRunner::Segment &prompt = call.emplace_back();
        prompt.slot = int32_t(first);
        for (int64_t position = 0; position < positions; ++position)
          prompt.tokens.push_back(tokenOf(first, position));
      }
      std::vector<float> all = runner->prefill(call);
      for (size_t i = 1; i <= call.size(); ++i)
        rows.insert(rows.end(), all.begin() + (i * positions - 1) * kOutputs,
                    all.begin() + i * positions * kOutputs);
    }
    return rows;
  }

  TestModel model;
  std::optional<PlanRunner> runner;
};

struct JoinedLaunches : testing::TestWithParam<const char *> {};

TEST_P(JoinedLaunches, ChangeNoBit) {
  Joined joined(GetParam(), /*bitStable=*/true);
  for (int64_t count : {int64_t(1), int64_t(2), int64_t(13), kSequences}) {
    SCOPED_TRACE(count);
    std::vector<float> steps = joined.bySteps(count, 4);
    ASSERT_EQ(steps.size(), size_t(count * kOutputs));
    EXPECT_EQ(steps, joined.byPrompts(count, 4));
  }
}

TEST_P(JoinedLaunches, GiveWhatPromptsGive) {
  Joined joined(GetParam(), /*bitStable=*/false);
  EXPECT_EQ(joined.model.getRemarks().contains(
                "one launch of 2, whose items read what they have written"),
            testTarget().device != tile::Device::Host);
  for (int64_t count : {int64_t(1), int64_t(2), int64_t(13), kSequences}) {
    SCOPED_TRACE(count);
    std::vector<float> steps = joined.bySteps(count, 4),
                       prompts = joined.byPrompts(count, 4);
    ASSERT_EQ(steps.size(), size_t(count * kOutputs));
    SmallVector<double> expected(prompts.begin(), prompts.end());
    EXPECT_TRUE(
        llvm::any_of(expected, [](double y) { return std::fabs(y) > 0.1; }));
    EXPECT_LE(errorOf(steps, expected), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, JoinedLaunches,
                         testing::Values("f32", "bf16"), [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
