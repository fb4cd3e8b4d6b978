// A whole model of one layer: fed at once, in pieces and token by token it
// gives the same logits, since the states carry all that later tokens need.
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

// Vocabulary 11, width 6, 4 heads of 3 channels in 2 groups of 5 keys: inner
// width 12, convolved channels 12 + 2 * 10 = 32, projected 12 + 32 + 4 = 48.
constexpr StringLiteral kModel = R"(
seq.weight @embeddings source("embeddings.weight") : tensor<11x6xbf16>
seq.weight @layers.0.norm source("norm.weight") : tensor<6xf32>
seq.weight @layers.0.in_proj source("in_proj.weight") : tensor<48x6xbf16>
seq.weight @layers.0.conv source("conv1d.weight") transposed : tensor<4x32xf32>
seq.weight @layers.0.conv_bias source("conv1d.bias") : tensor<32xf32>
seq.weight @layers.0.a_log source("A_log") : tensor<4xf32>
seq.weight @layers.0.dt_bias source("dt_bias") : tensor<4xf32>
seq.weight @layers.0.d source("D") : tensor<4xf32>
seq.weight @layers.0.gated_norm source("mixer.norm.weight") : tensor<12xf32>
seq.weight @layers.0.out_proj source("out_proj.weight") : tensor<6x12xbf16>
seq.weight @norm source("norm_f.weight") : tensor<6xf32>

func.func @forward(%tokens: tensor<?xi32>, %output_rows: tensor<?xi32>,
                   %conv: tensor<3x32xf32> {seq.state_name = "layers.0.conv"},
                   %ssd: tensor<4x5x3xf32> {seq.state_name = "layers.0.ssd"})
    -> (tensor<?x11xf32>, tensor<3x32xf32>, tensor<4x5x3xf32>) {
  %table = seq.parameter @embeddings : tensor<11x6xbf16>
  %x0 = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<11x6xbf16>) -> tensor<?x6xf32>

  %norm = seq.parameter @layers.0.norm : tensor<6xf32>
  %u = seq.rms_norm %x0, %norm {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  %in = seq.parameter @layers.0.in_proj : tensor<48x6xbf16>
  %p = seq.linear %u, %in : (tensor<?x6xf32>, tensor<48x6xbf16>) -> tensor<?x48xf32>
  %z = seq.slice %p {axis = 1 : i64, offset = 0 : i64, size = 12 : i64} : tensor<?x48xf32> -> tensor<?x12xf32>
  %xbc = seq.slice %p {axis = 1 : i64, offset = 12 : i64, size = 32 : i64} : tensor<?x48xf32> -> tensor<?x32xf32>
  %dt = seq.slice %p {axis = 1 : i64, offset = 44 : i64, size = 4 : i64} : tensor<?x48xf32> -> tensor<?x4xf32>

  %w = seq.parameter @layers.0.conv : tensor<4x32xf32>
  %bias = seq.parameter @layers.0.conv_bias : tensor<32xf32>
  %convolved, %next_conv = seq.short_convolution %xbc parameters(%w, %bias) state(%conv)
      {activation = #seq.activation<silu>}
      : tensor<?x32xf32>, (tensor<4x32xf32>, tensor<32xf32>), tensor<3x32xf32>
  %xs = seq.slice %convolved {axis = 1 : i64, offset = 0 : i64, size = 12 : i64} : tensor<?x32xf32> -> tensor<?x12xf32>
  %bs = seq.slice %convolved {axis = 1 : i64, offset = 12 : i64, size = 10 : i64} : tensor<?x32xf32> -> tensor<?x10xf32>
  %cs = seq.slice %convolved {axis = 1 : i64, offset = 22 : i64, size = 10 : i64} : tensor<?x32xf32> -> tensor<?x10xf32>
  %x = seq.reshape %xs : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %b = seq.reshape %bs : tensor<?x10xf32> -> tensor<?x2x5xf32>
  %c = seq.reshape %cs : tensor<?x10xf32> -> tensor<?x2x5xf32>

  %a_log = seq.parameter @layers.0.a_log : tensor<4xf32>
  %dt_bias = seq.parameter @layers.0.dt_bias : tensor<4xf32>
  %d = seq.parameter @layers.0.d : tensor<4xf32>
  %y, %next_ssd = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%ssd)
      : (tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x2x5xf32>, tensor<?x2x5xf32>),
        (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>), tensor<4x5x3xf32>
  %flat = seq.reshape %y : tensor<?x4x3xf32> -> tensor<?x12xf32>
  %gated_norm = seq.parameter @layers.0.gated_norm : tensor<12xf32>
  %n = seq.gated_rms_norm %flat, %z, %gated_norm {eps = 1.0e-5 : f64, groups = 2 : i64} : tensor<?x12xf32>, tensor<12xf32>
  %out = seq.parameter @layers.0.out_proj : tensor<6x12xbf16>
  %o = seq.linear %n, %out : (tensor<?x12xf32>, tensor<6x12xbf16>) -> tensor<?x6xf32>
  %x1 = seq.add %x0, %o : tensor<?x6xf32>

  %rows = seq.select_rows %x1, %output_rows : (tensor<?x6xf32>, tensor<?xi32>) -> tensor<?x6xf32>
  %final = seq.parameter @norm : tensor<6xf32>
  %f = seq.rms_norm %rows, %final {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  %logits = seq.lm_head %f, %table : (tensor<?x6xf32>, tensor<11x6xbf16>) -> tensor<?x11xf32>
  return %logits, %next_conv, %next_ssd : tensor<?x11xf32>, tensor<3x32xf32>, tensor<4x5x3xf32>
}
)";

// Random numbers that depend on the weight's name alone.
llvm::Expected<Tensor<double>> randomWeight(WeightOp weight) {
  std::seed_seq seed(weight.getSymName().begin(), weight.getSymName().end());
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Tensor<double> tensor(cast<RankedTensorType>(weight.getType()).getShape());
  for (double &element : tensor.elements())
    element = normal(random);
  return tensor;
}

// The logits of every token, in pieces of the given lengths, one row per token.
std::vector<double> logitsInPieces(ArrayRef<int64_t> pieces) {
  constexpr int32_t tokens[] = {3, 1, 4, 1, 5, 9, 2, 6, 10};
  Program program(kModel);
  Datum<double> conv = Tensor<double>({3, 32}), ssd = Tensor<double>({4, 5, 3});
  std::vector<double> logits;
  int64_t first = 0;
  for (int64_t length : pieces) {
    Tensor<int32_t> ids({length}, std::vector<int32_t>(
                                      tokens + first, tokens + first + length));
    Tensor<int32_t> rows({length});
    std::iota(rows.elements().begin(), rows.elements().end(), 0);
    auto outputs =
        program.evaluate<double>({ids, rows, conv, ssd}, randomWeight);
    if (outputs.size() != 3)
      return {};
    llvm::append_range(logits, numbers(outputs[0]).elements());
    conv = outputs[1];
    ssd = outputs[2];
    first += length;
  }
  return logits;
}

TEST(ReferenceModel, PiecesGiveTheSameLogits) {
  std::vector<double> whole = logitsInPieces({9});
  ASSERT_EQ(whole.size(), 9u * 11);
  std::vector<int64_t> cuts[] = {
      {4, 5}, {1, 2, 6}, {1, 1, 1, 1, 1, 1, 1, 1, 1}};
  for (const std::vector<int64_t> &pieces : cuts) {
    std::vector<double> logits = logitsInPieces(pieces);
    ASSERT_EQ(logits.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(logits[i], whole[i], 1e-12) << "element " << i;
  }
}

// The states of the first token matter to the last: without them the logits
// change.
TEST(ReferenceModel, StatesMatter) {
  std::vector<double> whole = logitsInPieces({9});
  Program program(kModel);
  auto outputs = program.evaluate<double>(
      {Tensor<int32_t>({1}, {10}), Tensor<int32_t>({1}, {0}),
       Tensor<double>({3, 32}), Tensor<double>({4, 5, 3})},
      randomWeight);
  ASSERT_EQ(outputs.size(), 3u);
  double difference = 0;
  for (auto [a, b] : llvm::zip_equal(numbers(outputs[0]).elements(),
                                     ArrayRef(whole).take_back(11)))
    difference = std::fmax(difference, std::fabs(a - b));
  EXPECT_GT(difference, 0.1);
}

} // namespace
