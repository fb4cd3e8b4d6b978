// Tokens that lie in memory in 16 bits give what they are: kernels that take tokens in
// chunks, one after another and in scans agree with the definitions.
#include "test/unit/contract/LinearTrials.h"

using namespace effc;
using namespace effc::test;

namespace {

class NarrowTokensContract : public testing::TestWithParam<size_t> {};

/// Mixers by name: what written steps make of tokens is not known.
bool mayHaveNarrowTokens(const LinearCase &mixer) {
  return !llvm::StringRef(mixer.name).starts_with("written_") &&
         hasStructure(mixer, [](seq::LinearAttr) { return true; });
}

// The numbers of tables in bf16 are the nearest to themselves, so that steps lose
// nothing by them. Products of chunks round what is computed as well.
TEST_P(NarrowTokensContract, AgreeWithTheDefinition) {
  if (testTarget().device == tile::Device::Host)
    GTEST_SKIP() << "the host's kernels hand on f32";
  PipelineOptions chosen = optionsFor(), steps = optionsFor("step");
  chosen.products = steps.products = Products::BF16;
  const LinearCase &mixer = allCases()[GetParam()];
  Random random(std::hash<std::string>()(mixer.title()) + 7);
  tryShapes(mixer,
            {{"chosen, tokens in bf16", true, chosen, /*tolerance=*/2e-2,
              Shapes::All, /*handedOn=*/true},
             {"step, tokens in bf16", true, steps,
              /*tolerance=*/1e-5, Shapes::Odd, /*handedOn=*/true}},
            {{0, 6, 3, 5, 12}, {0, 2, 1, 40, 80}}, random);
}

INSTANTIATE_TEST_SUITE_P(Mixers, NarrowTokensContract,
                         testing::ValuesIn(casesWith(mayHaveNarrowTokens)),
                         titleOf);

} // namespace
