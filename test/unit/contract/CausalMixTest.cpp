// The compiled kernels of seq.causal_mix agree with its definition, and their
// bits do not depend on how sequences are packed and cut.
//
// The model is an embedding, the mix with its residual and a choice of rows.
// The limit of positions is no multiple of a block of the state's rows.
#include "test/unit/contract/Sequences.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;

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

  PlanRunner compile() { return compileForThree(model, weights); }

  /// The outputs of all tokens by the definition.
  std::vector<double> expected(llvm::ArrayRef<int32_t> tokens) {
    int64_t count = tokens.size();
    Tensor<int32_t> rows = countFromZero(count);
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
  std::vector<Tokens> sequences = {tokensOf(2, 3, kTableRows),
                                   tokensOf(18, 5, kTableRows),
                                   tokensOf(kLimit, 11, kTableRows)};
  auto outputs = runTogether(runner, sequences, mix.width);
  for (auto [tokens, found] : llvm::zip_equal(sequences, outputs))
    expectNear(found, mix.expected(tokens));
}

TEST_P(CausalMixKernels, SameBitsInAnyPieces) {
  CausalMix mix(GetParam(), /*hasBias=*/true);
  PlanRunner runner = mix.compile();
  ASSERT_EQ(mix.model.getErrors(), "");
  expectSameBitsInAnyPieces(runner, tokensOf(kLimit, 2, kTableRows),
                            tokensOf(9, 4, kTableRows), mix.width);
}

INSTANTIATE_TEST_SUITE_P(Widths, CausalMixKernels,
                         testing::Values(5, 128, 200));

} // namespace
