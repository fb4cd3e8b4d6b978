// Kernels that take pieces of a sequence beside one another agree with the
// definitions, whatever decays, is normalised or has a maximum.
#include "passes/kernel_facts/ScanKernels.h"
#include "test/unit/contract/LinearTrials.h"
#include "test/unit/contract/RelativeError.h"

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Tensor;

namespace {

/// Whether kernels take pieces of a sequence's tokens beside one another.
bool hasPieces(const LinearCase &mixer) {
  return hasStructure(mixer, [](seq::LinearAttr linear) {
    return scanObstacle(linear, testTarget().device).empty();
  });
}

/// Mixers whose kernels take pieces beside one another; none on a host.
class ScanKernelsContract : public testing::TestWithParam<size_t> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScanKernelsContract);

// Six sequences share places for twelve pieces. Few values, heads cut into
// blocks of them, and more keys than a thread has elements.
TEST_P(ScanKernelsContract, AgreesWithTheDefinition) {
  const LinearCase &mixer = allCases()[GetParam()];
  Random random(std::hash<std::string>()(mixer.title()) + 5);
  PipelineOptions narrow = optionsFor("scan", StateStorage::BF16);
  tryShapes(
      mixer,
      {{"scan", false, optionsFor("scan")},
       {"scan, bf16 states", true, narrow, /*tolerance=*/2e-2, Shapes::Odd}},
      {{0, 6, 3, 5, 12}, {0, 2, 1, 40, 136}}, random);
}

// One sequence in as many pieces as a call of 176 tokens has, from its start and
// from states that it has; the last piece has fewer tokens, and of 9 tokens most
// pieces have none. Heads of 136 x 136 are more than a block of threads holds:
// where all values share a sum, an item passes over them in blocks.
TEST_P(ScanKernelsContract, OneSequence) {
  const LinearCase &mixer = allCases()[GetParam()];
  Random random(std::hash<std::string>()(mixer.title()) + 6);
  PipelineOptions options = optionsFor("scan");
  options.prefillRows = {176};
  LinearTrialModel model(mixer, extentsFor(mixer, {0, 1, 1, 136, 136}),
                         Gates::Mild, /*bf16=*/false, random);
  PlanRunner runner = model.compile(options, /*slots=*/1);
  ASSERT_EQ(model.getErrors(), "");
  EXPECT_TRUE(model.isCut());
  constexpr int64_t kTokens = 9 + 165;
  Sequence sequence = model.pickSequence(kTokens, 0);
  Outcome outcome;
  for (auto [from, to] : {std::pair(0, 9), {9, 174}})
    llvm::append_range(outcome.outputs,
                       runner.prefill(sequence.segment(0, from, to)));
  std::vector<Tensor<double>> expected = model.expected(sequence);
  EXPECT_LE(errorOf(outcome.outputs, expected[0].elements()), 1e-5);
  for (auto [state, tensor] :
       llvm::zip_equal(mixer.states, llvm::drop_begin(expected)))
    EXPECT_LE(errorOf(runner.readState(state.name, 0), tensor.elements()), 1e-5)
        << state.name;
}

INSTANTIATE_TEST_SUITE_P(Mixers, ScanKernelsContract,
                         testing::ValuesIn(casesWith(hasPieces)), titleOf);

} // namespace
