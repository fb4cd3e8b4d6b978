// The compiled host kernels of every mixer of class `linear`, and of written
// steps that are not linear, agree with the mixer's own definition, and their
// bits do not depend on how sequences are packed and cut.
#include "test/unit/contract/LinearTrials.h"

#include <cmath>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Tensor;

namespace {

class LinearKernelsContract : public testing::TestWithParam<size_t> {};

TEST_P(LinearKernelsContract, AgreeWithTheDefinition) {
  PipelineOptions tables = optionsFor(),
                  states = optionsFor("", StateStorage::BF16);
  // That optimised code has the same bits is seen of the first.
  tables.optimised = states.optimised = isLongCheck();
  tryShapes(allCases()[GetParam()],
            {{"f32 tables", false, optionsFor()},
             {"bf16 tables", true, tables, /*tolerance=*/1e-5, Shapes::Even},
             {"bf16 states", true, states, /*tolerance=*/2e-2, Shapes::Odd}});
}

// A prompt in any pieces, by prefill or decode calls, alone or among others.
TEST_P(LinearKernelsContract, SameBitsInAnyPieces) {
  const LinearCase &mixer = allCases()[GetParam()];
  Random random(std::hash<std::string>()(mixer.title()) + 2);
  Extents extents = extentsFor(mixer, {0, 6, 3, 12, 40});
  LinearTrialModel model(mixer, extents, Gates::Adversarial, /*bf16=*/false,
                         random);
  std::vector<Sequence> sequences = pickSequences(model, 0);
  PipelineOptions options = optionsFor();
  options.bitStableOnGpu = true; // where it is not the default
  options.optimised = isLongCheck();
  PlanRunner runner = model.compile(options, sequences.size());
  ASSERT_EQ(model.getErrors(), "");
  std::vector<Outcome> among = runPacked(model, runner, sequences, 0);
  const Sequence &sequence = sequences.back();
  for (std::vector<int64_t> pieces :
       {std::vector<int64_t>{35}, {16, 19}, {1, 7, 20}, {}}) {
    Outcome outcome;
    model.place(runner, sequence, 1);
    int64_t at = 0;
    for (int64_t length : pieces) {
      llvm::append_range(outcome.outputs,
                         runner.prefill(sequence.segment(1, at, at + length)));
      at += length;
    }
    for (; at < sequence.size(); ++at)
      llvm::append_range(outcome.outputs,
                         runner.decode(sequence.segment(1, at, at + 1)));
    for (const LinearOperand &state : mixer.states)
      outcome.states.push_back(runner.readState(state.name, 1));
    EXPECT_TRUE(outcome == among.back()) << pieces.size() << " pieces";
  }
}

// A correction of rate 6 makes its key's direction 5 times as long, so that f32
// overflows before 240 tokens, and double does not: the numbers are right up to
// there, and none stand behind. A chunk, which a GPU has in place of single
// tokens, overflows as a whole. LinearFormsTest.cpp holds the forms to the same.
TEST(LinearKernelsExpanding, NoNumbersBehindAnOverflow) {
  LinearCase mixer =
      drawnAs("delta_rule", "beta", [](Random &, Gates) { return 6.0; });
  constexpr int64_t kTokens = 240, kColumns = 4;
  Random random(11);
  LinearTrialModel model(mixer, {0, /*H=*/1, /*G=*/1, /*K=*/3, kColumns},
                         Gates::Mild,
                         /*bf16=*/false, random);
  Sequence sequence = model.pickSequence(kTokens, 0);
  bool isChunked = testTarget().device == tile::Device::Nvptx;
  int64_t chunk = isChunked ? 16 : 1;
  PipelineOptions options = optionsFor(isChunked ? "chunkwise:16" : "");
  options.prefillRows = {kTokens};
  PlanRunner runner = model.compile(options, 1);
  ASSERT_EQ(model.getErrors(), "");
  std::vector<float> y = runner.prefill(sequence.segment(0, 0, kTokens));
  Tensor<double> expected = model.expected(sequence)[0];
  for (int64_t column = 0; column < kColumns; ++column) {
    int64_t tokens = 0;
    double magnitude = 0;
    for (; tokens < kTokens; ++tokens) {
      double exact = expected.elements()[tokens * kColumns + column];
      float found = y[tokens * kColumns + column];
      if (!std::isfinite(found))
        break;
      magnitude = std::fmax(magnitude, std::fabs(exact));
      EXPECT_LE(std::fabs(found - exact), 1e-4 * magnitude) << tokens;
    }
    EXPECT_LT(tokens, kTokens); // where double leaves what f32 can hold
    EXPECT_EQ(tokens % chunk, 0);
    for (int64_t t = tokens; t < tokens + chunk - 1; ++t)
      magnitude = std::fmax(
          magnitude, std::fabs(expected.elements()[t * kColumns + column]));
    EXPECT_GT(magnitude, 1e35);
    for (int64_t t = tokens; t < kTokens; ++t)
      EXPECT_FALSE(std::isfinite(y[t * kColumns + column])) << t;
  }
}

// Heads of 120 x 144 are more than the threads of a GPU's block hold, and a step that
// corrects its state three times is looped over as it is written: an item has 72 of a
// head's value channels there.
TEST(LinearKernelsLarge, StepsOfHeadsInBlocksAgreeWithTheDefinition) {
  const LinearCase &mixer = *llvm::find_if(linearCases(), [](auto &one) {
    return one.title() == "written_corrections";
  });
  Random random(17);
  tryShapes(mixer, {{"f32 tables", false, optionsFor()}}, {{0, 2, 1, 120, 144}},
            random);
}

INSTANTIATE_TEST_SUITE_P(Mixers, LinearKernelsContract,
                         testing::Range<size_t>(0, allCases().size()), titleOf);

} // namespace
