// Imports the recorded checkpoints and evaluates them by the reference in
// double: frontend and dialect mean what the model's public implementation
// computes.
//
// The recorded logits are those of an independent recurrence in float64 on the
// same weights, every one of which a double holds exactly. What is left is the
// order of sums, some ten roundings of 1e-16 each: 4e-15 was found at most. The
// checkpoints of goldens/families are listed, not named; their logits are the
// public library's with everything in double.
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/RecordedModel.h"

#include "mlir/IR/Verifier.h"

using namespace effc::frontend;
using namespace effc::test;

namespace {

constexpr double kTolerance = 1e-13;

class GoldenTest : public testing::TestWithParam<std::string> {
protected:
  std::string directory = std::string(EFFC_GOLDENS) + "/" + GetParam();
};

} // namespace

TEST_P(GoldenTest, MeansWhatWasRecorded) {
  mlir::MLIRContext context;
  ImportOptions options = readRecordedOptions(directory);
  options.ungroupedNorm = llvm::StringRef(GetParam()).contains("ungrouped");
  ImportedModel model =
      llvm::cantFail(importModel(context, directory, options));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*model.module)));
  std::vector<RecordedSequence> sequences = readRecordedSequences(directory);
  for (const RecordedSequence &sequence : sequences) {
    std::vector<double> found =
        llvm::cantFail(evaluate(model, sequence.tokens));
    ASSERT_EQ(found.size(), sequence.logits.size());
    EXPECT_LE(relativeDistance(found, sequence.logits), kTolerance)
        << "sequence of " << sequence.tokens.size() << " tokens";
  }
  EXPECT_GE(sequences.size(), 2u);
  EXPECT_EQ(outcome(model.checkpoint->checkUnchanged()), "success");
}

INSTANTIATE_TEST_SUITE_P(
    Mamba2, GoldenTest,
    testing::Values("mamba2/bf16_biases_groups2", "mamba2/bf16_conv2",
                    "mamba2/bf16_four_layers_long", "mamba2/bf16_groups3",
                    "mamba2/bf16_limit_groups2", "mamba2/bf16_tied",
                    "mamba2/bf16_wide_vocabulary", "mamba2/f32_biases",
                    "mamba2/f32_conv3", "mamba2/f32_extreme_decays",
                    "mamba2/f32_groups2", "mamba2/f32_limit",
                    "mamba2/f32_plain", "layouts/f16_groups2",
                    "layouts/mamba_ssm_f16_padded",
                    "layouts/mamba_ssm_f32_groups2", "layouts/sharded_bf16",
                    "layouts/ungrouped_f32_groups3"),
    [](const auto &info) { return nameOfRecorded(info.param); });

INSTANTIATE_TEST_SUITE_P(Families, GoldenTest,
                         testing::ValuesIn(listRecordedFamilies()),
                         [](const auto &info) {
                           return nameOfRecorded(info.param);
                         });
