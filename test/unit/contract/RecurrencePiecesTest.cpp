// A chunkwise recurrence whose sequence is cut into pieces beside one another
// agrees with its definition, however many segments share the places of pieces,
// wherever they start, and where there are more pieces than chunks.
//
// 2 heads of 96 x 72 in blocks of 24 value channels are 6 items; an
// entry of 176 rows has 11 chunks of 16 for 132 cores: 11 pieces.
#include "test/unit/contract/NumberedText.h"
#include "test/unit/contract/Sequences.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kRows = 41, kHeads = 2, kKeys = 96, kValues = 72;
constexpr int64_t kEntry = 176, kWidth = kHeads * kValues, kSlots = 14;

/// A mixer between the slices of an embedding, whose rows have `width` numbers.
struct Mixer {
  const char *name;
  int64_t width;
  const char *text;
};

constexpr Mixer kMixers[] = {{"decays_per_head", 338, R"(
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 96 : i64} : tensor<?xWIDTHxf32> -> tensor<?x96xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 96 : i64, size = 96 : i64} : tensor<?xWIDTHxf32> -> tensor<?x96xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 192 : i64, size = 144 : i64} : tensor<?xWIDTHxf32> -> tensor<?x144xf32>
  %g = seq.slice %in {axis = 1 : i64, offset = 336 : i64, size = 2 : i64} : tensor<?xWIDTHxf32> -> tensor<?x2xf32>
  %q = seq.reshape %q0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %k = seq.reshape %k0 : tensor<?x96xf32> -> tensor<?x1x96xf32>
  %v = seq.reshape %v0 : tensor<?x144xf32> -> tensor<?x2x72xf32>
  %y, %next = seq.gated_retention %q, %k, %v, %g state(%s) {scale = 0.125 : f64, temperature = 16.0 : f64}
      : (tensor<?x1x96xf32>, tensor<?x1x96xf32>, tensor<?x2x72xf32>, tensor<?x2xf32>, tensor<2x96x72xf32>)
      -> (tensor<?x2x72xf32>, tensor<2x96x72xf32>)
)"},
                             {"decays_per_key_channel", 720, R"(
  %q0 = seq.slice %in {axis = 1 : i64, offset = 0 : i64, size = 192 : i64} : tensor<?xWIDTHxf32> -> tensor<?x192xf32>
  %k0 = seq.slice %in {axis = 1 : i64, offset = 192 : i64, size = 192 : i64} : tensor<?xWIDTHxf32> -> tensor<?x192xf32>
  %v0 = seq.slice %in {axis = 1 : i64, offset = 384 : i64, size = 144 : i64} : tensor<?xWIDTHxf32> -> tensor<?x144xf32>
  %g0 = seq.slice %in {axis = 1 : i64, offset = 528 : i64, size = 192 : i64} : tensor<?xWIDTHxf32> -> tensor<?x192xf32>
  %q = seq.reshape %q0 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  %k = seq.reshape %k0 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  %v = seq.reshape %v0 : tensor<?x144xf32> -> tensor<?x2x72xf32>
  %g = seq.reshape %g0 : tensor<?x192xf32> -> tensor<?x2x96xf32>
  %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%g) state(%s) {scale = 0.125 : f64, temperature = 16.0 : f64}
      : (tensor<?x2x96xf32>, tensor<?x2x96xf32>, tensor<?x2x72xf32>, tensor<?x2x96xf32>, tensor<2x96x72xf32>)
      -> (tensor<?x2x72xf32>, tensor<2x96x72xf32>)
)"}};

std::string modelText(const Mixer &mixer) {
  std::string text = R"(
seq.weight @table source("table") : tensor<41xWIDTHxf32>
func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %s: tensor<2x96x72xf32> {seq.state_name = "s"})
    -> (tensor<?x144xf32>, tensor<2x96x72xf32>) {
  %table = seq.parameter @table : tensor<41xWIDTHxf32>
  %in = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<41xWIDTHxf32>) -> tensor<?xWIDTHxf32>
)";
  text += mixer.text;
  text += R"(
  %y0 = seq.reshape %y : tensor<?x2x72xf32> -> tensor<?x144xf32>
  %out = seq.select_rows %y0, %rows : (tensor<?x144xf32>, tensor<?xi32>) -> tensor<?x144xf32>
  return %out, %next : tensor<?x144xf32>, tensor<2x96x72xf32>
}
)";
  return withNumbers(std::move(text), {{"WIDTH", mixer.width}});
}

class RecurrencePieces : public testing::TestWithParam<Mixer> {
protected:
  RecurrencePieces() : model(modelText(GetParam())) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<float> element(-1, 1);
    for (int64_t i = 0; i < kRows * GetParam().width; ++i)
      weights["table"].push_back(element(random));
  }

  /// Whether sequences are cut here: where a chip's cores are known.
  static bool cuts() { return testTarget().cores > 0; }

  PlanRunner compile() {
    PipelineOptions options;
    options.prefillRows = {kEntry};
    options.decodeRows = {1};
    options.forceForm = {seq::FormKind::Chunkwise, 16};
    bool isCut = false;
    PlanRunner runner(model, options, kSlots, [&](ModuleOp module) {
      for (auto kernel : module.getOps<tile::KernelOp>())
        isCut |= kernel.getSymName().ends_with("_pieces");
    });
    EXPECT_EQ(model.getErrors(), "");
    EXPECT_EQ(isCut, cuts());
    runner.setWeight("table", weights["table"]);
    // What slots hold is nothing to a sequence that begins.
    for (int32_t slot = 0; slot < kSlots; ++slot)
      for (float &number : runner.state("s", slot))
        number = std::nanf("");
    return runner;
  }

  /// The outputs of all tokens by the definition.
  std::vector<double> expected(const Tokens &tokens) {
    int64_t count = tokens.size();
    std::vector<Datum<double>> inputs = {
        Tensor<int32_t>({count}, tokens), countFromZero(count),
        Tensor<double>({kHeads, kKeys, kValues})};
    return std::get<Tensor<double>>(model.evaluate(inputs, weights)[0])
        .elements()
        .vec();
  }

  /// Outputs of tokens from `first` on, within what products of f32 lose.
  void expectNear(llvm::ArrayRef<float> found, const Tokens &tokens,
                  int64_t first, const std::string &what) {
    std::vector<double> all = expected(tokens);
    llvm::ArrayRef<double> exact =
        llvm::ArrayRef(all).slice(first * kWidth, found.size());
    double error = 0, magnitude = 0;
    for (auto [a, b] : llvm::zip_equal(found, exact)) {
      error += (a - b) * (a - b);
      magnitude += b * b;
    }
    EXPECT_LE(std::sqrt(error / magnitude), 1e-5) << what;
  }

  llvm::StringMap<std::vector<float>> weights;
  TestModel model;
};

// All pieces for one sequence, from its start and inside of a chunk; its state
// then.
TEST_P(RecurrencePieces, OfOneSequence) {
  PlanRunner runner = compile();
  Tokens tokens = tokensOf(9 + 165 + 176 + 1, 3, kRows);
  int64_t at = 0;
  for (int64_t count : {9, 165, 176}) {
    expectNear(runner.prefill(segmentOf(0, tokens, at, at + count)), tokens, at,
               std::to_string(count) + " tokens from " + std::to_string(at));
    at += count;
  }
  expectNear(runner.decode(segmentOf(0, tokens, at, at + 1)), tokens, at,
             "the step behind them");
}

// Two segments have five pieces each, of which one goes on; four have two.
// Where a segment has fewer chunks than pieces some pieces are empty.
TEST_P(RecurrencePieces, OfSeveralSequences) {
  PlanRunner runner = compile();
  for (std::vector<int64_t> lengths : std::vector<std::vector<int64_t>>{
           {101, 70}, {3, 150}, {17, 80, 1, 33}, {1, 60, 50}}) {
    std::string what = std::to_string(lengths.size()) + " sequences";
    std::vector<Tokens> sequences;
    std::vector<Segment> call;
    Tokens before = tokensOf(5, 11, kRows);
    runner.prefill(segmentOf(0, before, 0, 5));
    for (auto [slot, length] : llvm::enumerate(lengths)) {
      bool goesOn = slot == 0;
      sequences.push_back(tokensOf(length + (goesOn ? 5 : 0) + 1,
                                   goesOn ? 11 : int64_t(slot), kRows));
      call.push_back(segmentOf(slot, sequences.back(), goesOn ? 5 : 0,
                               sequences.back().size() - 1));
    }
    std::vector<float> rows = runner.prefill(call);
    llvm::ArrayRef<float> rest = rows;
    for (auto [slot, length] : llvm::enumerate(lengths)) {
      expectNear(rest.take_front(length * kWidth), sequences[slot],
                 slot == 0 ? 5 : 0, what);
      rest = rest.drop_front(length * kWidth);
      int64_t last = sequences[slot].size() - 1;
      expectNear(
          runner.decode(segmentOf(slot, sequences[slot], last, last + 1)),
          sequences[slot], last, what + ", a step behind them");
    }
  }
}

// More segments than places: each is one piece.
TEST_P(RecurrencePieces, OfManySequences) {
  PlanRunner runner = compile();
  std::vector<Tokens> sequences;
  std::vector<Segment> call;
  for (int32_t slot = 0; slot < 12; ++slot) {
    sequences.push_back(tokensOf(14, slot, kRows));
    call.push_back(segmentOf(slot, sequences.back(), 0, 13));
  }
  std::vector<float> rows = runner.prefill(call);
  for (int32_t slot = 0; slot < 12; ++slot) {
    expectNear(llvm::ArrayRef(rows).slice(slot * 13 * kWidth, 13 * kWidth),
               sequences[slot], 0, "sequence " + std::to_string(slot));
    expectNear(runner.decode(segmentOf(slot, sequences[slot], 13, 14)),
               sequences[slot], 13, "a step behind it");
  }
}

INSTANTIATE_TEST_SUITE_P(Decays, RecurrencePieces, testing::ValuesIn(kMixers),
                         [](const testing::TestParamInfo<Mixer> &info) {
                           return std::string(info.param.name);
                         });

} // namespace
