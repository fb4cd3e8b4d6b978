// The compiled kernels of seq.causal_mix agree with its definition, and their
// bits do not depend on how sequences are packed and cut.
//
// The model is an embedding, the mix with its residual and a choice of rows.
// The limit of positions is no multiple of a block of the state's rows.
#include "test/unit/codegen/host/PlanRunner.h"

#include "gtest/gtest.h"

#include <cmath>
#include <numeric>
#include <random>

using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kTableRows = 53, kLimit = 45;

std::string modelText(int64_t width, bool hasBias) {
  auto n = [](int64_t number) { return std::to_string(number); };
  std::string table = "tensor<" + n(kTableRows) + "x" + n(width) + "xf32>",
              weight = "tensor<" + n(kLimit) + "x" + n(kLimit) + "xf32>",
              bias = "tensor<" + n(kLimit) + "xf32>",
              state = "tensor<" + n(kLimit) + "x" + n(width) + "xf32>",
              x = "tensor<?x" + n(width) + "xf32>";
  return "seq.weight @table source(\"table\") : " + table +
         "\nseq.weight @weight source(\"weight\") : " + weight +
         "\nseq.weight @bias source(\"bias\") : " + bias +
         "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, "
         "%p: tensor<?xi32>, %inputs: " +
         state + " {seq.state_name = \"inputs\"}) -> (" + x + ", " + state +
         ") {\n  %table = seq.parameter @table : " + table +
         "\n  %w = seq.parameter @weight : " + weight +
         "\n  %b = seq.parameter @bias : " + bias +
         "\n  %x = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
         ") -> " + x +
         "\n  %y, %n = seq.causal_mix %x positions(%p) "
         "parameters(%w" +
         (hasBias ? ", %b" : "") + ") state(%inputs) : (" + x +
         ", tensor<?xi32>, " + weight + (hasBias ? ", " + bias : "") + ", " +
         state + ") -> (" + x + ", " + state +
         ")\n  %z = seq.add %x, %y : " + x +
         "\n  %out = seq.select_rows %z, %rows : (" + x +
         ", tensor<?xi32>) -> " + x + "\n  return %out, %n : " + x + ", " +
         state + "\n}\n";
}

class CausalMix {
public:
  CausalMix(int64_t width, bool hasBias)
      : width(width), model(modelText(width, hasBias)) {
    std::mt19937_64 random(width);
    std::uniform_real_distribution<float> element(-1, 1);
    for (auto [name, size] : {std::pair("table", kTableRows * width),
                              {"weight", kLimit * kLimit},
                              {"bias", kLimit}})
      for (int64_t i = 0; i < size; ++i)
        weights[name].push_back(element(random));
  }

  PlanRunner compile() {
    PipelineOptions options;
    options.prefillRows = {64};
    options.decodeRows = {4};
    PlanRunner runner(model, options, /*slots=*/3);
    for (const auto &[name, elements] : weights)
      runner.setWeight(name, elements);
    return runner;
  }

  /// The outputs of all tokens by the definition.
  std::vector<double> expected(llvm::ArrayRef<int32_t> tokens) {
    int64_t count = tokens.size();
    Tensor<int32_t> rows({count});
    std::iota(rows.elements().begin(), rows.elements().end(), 0);
    std::vector<Datum<double>> inputs = {Tensor<int32_t>({count}, tokens.vec()),
                                         rows, rows,
                                         Tensor<double>({kLimit, width})};
    auto results = model.evaluate(inputs, weights);
    return std::get<Tensor<double>>(results[0]).elements().vec();
  }

  int64_t width;
  TestModel model;

private:
  llvm::StringMap<std::vector<float>> weights;
};

std::vector<int32_t> tokensOf(int64_t count, int64_t first) {
  std::vector<int32_t> tokens;
  for (int64_t t = 0; t < count; ++t)
    tokens.push_back((first + 7 * t) % kTableRows);
  return tokens;
}

Segment segmentOf(int32_t slot, llvm::ArrayRef<int32_t> tokens, int64_t from,
                  int64_t to) {
  return {slot, from, from == 0, tokens.slice(from, to - from).vec()};
}

void expectNear(llvm::ArrayRef<float> found, llvm::ArrayRef<double> expected) {
  ASSERT_EQ(found.size(), expected.size());
  // Up to 45 terms of at most 1, rounded to f32.
  for (auto [a, b] : llvm::zip_equal(found, expected))
    ASSERT_LE(std::fabs(a - b), 45 * 45 * 6e-8);
}

// Widths below, at and above an item's block of 128 channels.
class CausalMixKernels : public testing::TestWithParam<int64_t> {};

TEST_P(CausalMixKernels, AgreeWithTheDefinition) {
  CausalMix mix(GetParam(), /*hasBias=*/GetParam() != 128);
  PlanRunner runner = mix.compile();
  ASSERT_EQ(mix.model.getErrors(), "");
  // Three sequences in one call, then a token of each.
  std::vector<std::vector<int32_t>> sequences = {
      tokensOf(2, 3), tokensOf(18, 5), tokensOf(kLimit, 11)};
  std::vector<Segment> prefill, decode;
  for (auto [slot, tokens] : llvm::enumerate(sequences)) {
    int64_t last = tokens.size() - 1;
    prefill.push_back(segmentOf(slot, tokens, 0, last));
    decode.push_back(segmentOf(slot, tokens, last, last + 1));
  }
  std::vector<float> rows = runner.prefill(prefill);
  std::vector<float> ends = runner.decode(decode);
  llvm::ArrayRef<float> rest = rows;
  for (auto [slot, tokens] : llvm::enumerate(sequences)) {
    size_t size = (tokens.size() - 1) * mix.width;
    std::vector<float> found = rest.take_front(size).vec();
    rest = rest.drop_front(size);
    llvm::append_range(found,
                       llvm::ArrayRef(ends).slice(slot * mix.width, mix.width));
    expectNear(found, mix.expected(tokens));
  }
}

TEST_P(CausalMixKernels, SameBitsInAnyPieces) {
  CausalMix mix(GetParam(), /*hasBias=*/true);
  PlanRunner runner = mix.compile();
  ASSERT_EQ(mix.model.getErrors(), "");
  std::vector<int32_t> tokens = tokensOf(kLimit, 2), other = tokensOf(9, 4);
  runner.parts = 3;
  std::vector<float> whole = runner.prefill(
      {segmentOf(0, other, 0, 9), segmentOf(2, tokens, 0, kLimit)});
  whole.erase(whole.begin(), whole.begin() + 9 * mix.width);
  runner.parts = 1;
  for (std::vector<int64_t> pieces :
       {std::vector<int64_t>{kLimit}, {16, 29}, {1, 7, 20}, {}}) {
    std::vector<float> found;
    int64_t at = 0;
    for (int64_t length : pieces) {
      llvm::append_range(
          found, runner.prefill({segmentOf(1, tokens, at, at + length)}));
      at += length;
    }
    for (; at < kLimit; ++at)
      llvm::append_range(found,
                         runner.decode({segmentOf(1, tokens, at, at + 1)}));
    EXPECT_EQ(found, whole) << pieces.size() << " pieces";
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, CausalMixKernels,
                         testing::Values(5, 128, 200));

} // namespace
