// A wrong op is found by its name, in whichever layer it stands.
#include "tools/effc-verify/FirstOp.h"

#include "compiler/Reference.h"
#include "test/unit/compiler/StoredCheckpoint.h"
#include "tools/effc-verify/ProbeComparisons.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using namespace effc::verify;

using Tokens = std::vector<int32_t>;

/// The reference with a weight that is zero against the reference.
static Differing withoutWeight(const std::string &name) {
  return [name](const OpProbe &probe) {
    std::vector<double> found = llvm::cantFail(
        evaluateReference(withZeroWeight(probe.model, name), probe.tokens, {}));
    std::vector<double> expected =
        llvm::cantFail(evaluateReference(probe.model, probe.tokens, {}));
    std::vector<bool> differs;
    for (const ProbedValue &value : probe.values) {
      bool same = true;
      for (size_t row = 0; row < found.size(); row += size_t(probe.columns)) {
        auto first = ptrdiff_t(row) + value.offset;
        same &= std::equal(found.begin() + first,
                           found.begin() + first + value.columns,
                           expected.begin() + first);
      }
      differs.push_back(!same);
    }
    return differs;
  };
}

static std::optional<FirstOp> findWithout(const StoredModel &model,
                                          const std::string &weight) {
  return findFirstOp(model, Tokens{7, 2, 0, 7, 9}, withoutWeight(weight));
}

TEST(FirstOp, IsTheOneThatReadsAWrongWeight) {
  StoredCheckpoint checkpoint(EFFC_GOLDENS "/sample");
  struct Case {
    const char *weight, *layer, *op;
  };
  for (const Case &wrong :
       {Case{"layers.3.in_proj", "layers.3", "layers.3.in_proj (seq.linear)"},
        Case{"layers.5.gated_norm", "layers.5",
             "layers.5.gated_norm (seq.gated_rms_norm)"},
        Case{"layers.0.conv_bias", "layers.0",
             "layers.0.conv (seq.short_convolution)"},
        Case{"layers.2.dt_bias", "layers.2", "layers.2.ssd (seq.ssd)"},
        Case{"norm", "", "norm (seq.rms_norm)"}}) {
    std::optional<FirstOp> first = findWithout(checkpoint.get(), wrong.weight);
    ASSERT_TRUE(first) << wrong.weight;
    EXPECT_EQ(first->layer, wrong.layer);
    EXPECT_EQ(first->op, wrong.op);
  }
}

TEST(FirstOp, IsNoneWhereNothingDiffers) {
  StoredCheckpoint checkpoint(EFFC_GOLDENS "/sample");
  EXPECT_FALSE(findWithout(checkpoint.get(), "no such weight"));
}

// Kernels are sound, so no result inside a model may seem to differ: neither
// what they compute nor how they are fed.
TEST(FirstOp, IsNoneForSoundKernels) {
  for (const char *golden :
       {"mamba2/f32_groups2", "families/kimi_linear/query_rank_bf16"}) {
    SCOPED_TRACE(golden);
    StoredCheckpoint checkpoint(EFFC_GOLDENS "/" + std::string(golden));
    CompileOptions options;
    options.pipeline.prefillRows = {8};
    options.pipeline.decodeRows = {2};
    std::vector<int32_t> tokens = {5, 1, 5, 30, 11, 2, 9, 3, 3, 8, 20};
    auto report = [](const std::optional<FirstOp> &first) {
      return first ? first->layer + ": " + first->op : "none";
    };
    EXPECT_EQ(report(findFirstOp(checkpoint.get(), tokens,
                                 compiledAgainstReference(options, 2))),
              "none");
    EXPECT_EQ(report(findFirstOp(checkpoint.get(), tokens,
                                 formAgainstReference(kForms[1]))),
              "none");
    EXPECT_EQ(
        report(findFirstOp(checkpoint.get(), tokens,
                           fedAgainstOnePrefill(
                               options, 2,
                               [](Feeding &feeding, const Tokens &sequence) {
                                 return feeding.inSteps(sequence);
                               },
                               /*tolerance=*/0))),
        "none");
  }
}
