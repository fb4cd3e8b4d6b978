// Delta rules whose sequence is cut into pieces beside one another agree with
// their definition: with any decays and rates, however many segments share the
// places of pieces, wherever they start, and where pieces are empty.
//
// An entry has 432 rows, 27 chunks of 16. 2 heads of 96 x 72 in blocks of 24
// value channels are 6 items for 108 or 132 cores, and the matrix of a piece 8
// more: 7 pieces. So have heads of 88 x 72, whose last block is of 16 columns.
// Keys of 64 have all 72 columns in an item. Of three corrections a token chunks have 4
// tokens of 12 rows.
#include "test/unit/contract/LinearCases.h"
#include "test/unit/contract/LinearModel.h"
#include "test/unit/contract/Sequences.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kRows = 41, kEntry = 432, kSlots = 10;

/// What a table's rates of correction and decays are. A matrix between pieces
/// counts only where states outlive them: log-decays are about -1e-3.
enum class Draw {
  Slow,
  EndsOfRates, ///< the same, and rates of 0 and 1 and next to them
  Adversarial  ///< log-decays of 0, mild ones, -2, -20 and -1e4 in every chunk
};

struct Shape {
  const char *mixer;
  Extents extents;
  llvm::StringRef decay; ///< the operand that says what decays, if anything
  llvm::StringRef rate = "beta"; ///< of correction
};

constexpr Shape kShapes[] = {
    {"delta_rule", {0, 2, 1, 96, 72}, ""},
    {"gated_delta_rule", {0, 2, 1, 88, 72}, "a"},
    {"kimi_delta_attention", {0, 2, 1, 96, 72}, "f"},
    {"gated_delta_rule_2", {0, 2, 1, 96, 72}, "f", "erase"},
    {"rwkv7", {0, 2, 1, 64, 72}, "w", "a"},
    {"written_corrections", {0, 2, 1, 40, 72}, "f", "beta2"}};

const LinearCase &caseOf(const Shape &shape) {
  return *llvm::find_if(linearCases(), [&](const LinearCase &mixer) {
    return mixer.title() == shape.mixer;
  });
}

class TransitionPieces : public testing::TestWithParam<Shape> {
protected:
  TransitionPieces()
      : mixer(caseOf(GetParam())), extents(GetParam().extents),
        width(extents.H * extents.V),
        model(linearModelText(mixer, extents, kRows, "f32")),
        runner(compile()) {}

  void drawWeights(Draw draw) {
    Random random(7);
    Gates gates = draw == Draw::Adversarial ? Gates::Adversarial : Gates::Mild;
    Extents rows = extents;
    rows.T = kRows;
    std::vector<Tensor<double>> columns;
    for (const LinearOperand &operand : mixer.tokens) {
      columns.push_back(operand.pickTensor(random, gates, rows));
      auto elements = columns.back().elements();
      // Softplus is an exponential there.
      if (draw != Draw::Adversarial && operand.name == GetParam().decay)
        for (double &element : elements)
          element = float(pickReal(random, -8, -6));
      constexpr float kRates[] = {0, 1e-6f, 1, 1 - 1e-6f};
      if (draw == Draw::EndsOfRates && operand.name == GetParam().rate)
        for (double &element : elements)
          element = kRates[pick(random, 0, 3)];
    }
    weights.clear();
    for (int64_t row = 0; row < kRows; ++row)
      for (const Tensor<double> &column : columns) {
        int64_t size = column.size() / kRows;
        llvm::append_range(weights["table"],
                           column.elements().slice(row * size, size));
      }
    for (const LinearOperand &parameter : mixer.parameters)
      llvm::append_range(
          weights[parameter.name],
          parameter.pickTensor(random, gates, extents).elements());
    for (const auto &[name, elements] : weights)
      runner.setWeight(name, elements);
    // What slots hold is nothing to a sequence that begins.
    for (int32_t slot = 0; slot < kSlots; ++slot)
      for (float &number : runner.state(mixer.states.front().name, slot))
        number = std::nanf("");
  }

  /// Whether sequences are cut here: where a chip's cores are known.
  static bool cuts() { return testTarget().cores > 0; }

  PlanRunner compile() {
    PipelineOptions options;
    options.prefillRows = {kEntry};
    options.decodeRows = {1};
    options.forceForm = {seq::FormKind::Chunkwise, 16};
    bool hasMatrices = false;
    PlanRunner runner(model, options, kSlots, [&](ModuleOp module) {
      // A product with a matrix of K x K.
      module.walk([&](tile::DotOp dot) {
        tile::TileType a = dot.getA().getType();
        hasMatrices |= a.rows() == extents.K && a.columns() == extents.K;
      });
    });
    EXPECT_EQ(model.getErrors(), "");
    EXPECT_EQ(hasMatrices, cuts());
    return runner;
  }

  /// The outputs of all tokens by the definition.
  std::vector<double> expected(const Tokens &tokens) {
    int64_t count = tokens.size();
    std::vector<Datum<double>> inputs = {
        Tensor<int32_t>({count}, tokens), countFromZero(count),
        Tensor<double>(extents.of(mixer.states.front().letters))};
    return std::get<Tensor<double>>(model.evaluate(inputs, weights)[0])
        .elements()
        .vec();
  }

  /// Outputs of tokens from `first` on, of those of all, within what products
  /// of f32 lose.
  void expectNear(llvm::ArrayRef<float> found, llvm::ArrayRef<double> all,
                  int64_t first, const std::string &what) {
    llvm::ArrayRef<double> exact = all.slice(first * width, found.size());
    double error = 0, magnitude = 0;
    for (auto [a, b] : llvm::zip_equal(found, exact)) {
      error += (a - b) * (a - b);
      magnitude += b * b;
    }
    double relative = std::sqrt(error / magnitude);
    worst = std::fmax(worst, relative);
    EXPECT_LE(relative, 1e-5) << what;
  }

  void tryOneSequence() {
    Tokens tokens = tokensOf(9 + 391 + 1, 3, kRows);
    std::vector<double> all = expected(tokens);
    int64_t at = 0;
    for (int64_t count : {9, 391}) {
      expectNear(runner.prefill(segmentOf(0, tokens, at, at + count)), all, at,
                 std::to_string(count) + " tokens from " + std::to_string(at));
      at += count;
    }
    expectNear(runner.decode(segmentOf(0, tokens, at, at + 1)), all, at,
               "the step behind them");
  }

  /// Segments of one call, of which the first goes on.
  void trySequences(llvm::ArrayRef<int64_t> lengths) {
    constexpr int64_t kBefore = 5;
    std::string what = std::to_string(lengths.size()) + " sequences";
    std::vector<Tokens> sequences;
    std::vector<Segment> call;
    for (auto [slot, length] : llvm::enumerate(lengths)) {
      int64_t before = slot == 0 ? kBefore : 0;
      sequences.push_back(tokensOf(before + length + 1, 11 * slot, kRows));
      call.push_back(
          segmentOf(slot, sequences.back(), before, before + length));
    }
    runner.prefill(segmentOf(0, sequences.front(), 0, kBefore));
    std::vector<float> rows = runner.prefill(call);
    llvm::ArrayRef<float> rest = rows;
    for (auto [slot, length] : llvm::enumerate(lengths)) {
      const Tokens &tokens = sequences[slot];
      std::vector<double> all = expected(tokens);
      int64_t last = tokens.size() - 1;
      expectNear(rest.take_front(length * width), all, last - length, what);
      rest = rest.drop_front(length * width);
      expectNear(runner.decode(segmentOf(slot, tokens, last, last + 1)), all,
                 last, what + ", a step behind them");
    }
  }

  void TearDown() override {
    std::printf("largest relative error %.1e\n", worst);
  }

  const LinearCase &mixer;
  Extents extents;
  int64_t width;
  llvm::StringMap<std::vector<float>> weights;
  TestModel model;
  PlanRunner runner;
  double worst = 0;
};

// All pieces for one sequence, from its start and inside of a chunk; its state
// then.
TEST_P(TransitionPieces, OfOneSequence) {
  for (auto [draw, name] : {std::pair(Draw::Slow, "slow"),
                            {Draw::EndsOfRates, "ends of rates"},
                            {Draw::Adversarial, "adversarial"}}) {
    SCOPED_TRACE(name);
    drawWeights(draw);
    tryOneSequence();
  }
}

// Two segments have at least three pieces each, of which one goes on, or has
// fewer chunks than pieces; three have two or three, and more than places are
// one piece each.
TEST_P(TransitionPieces, OfSeveralSequences) {
  drawWeights(Draw::Slow);
  for (const std::vector<int64_t> &lengths :
       std::vector<std::vector<int64_t>>{{101, 170},
                                         {3, 150},
                                         {1, 160, 50},
                                         {17, 1, 33, 2, 16, 5, 31, 20, 9, 4}})
    trySequences(lengths);
}

INSTANTIATE_TEST_SUITE_P(DeltaRules, TransitionPieces,
                         testing::ValuesIn(kShapes),
                         [](const testing::TestParamInfo<Shape> &info) {
                           return std::string(info.param.mixer);
                         });

} // namespace
