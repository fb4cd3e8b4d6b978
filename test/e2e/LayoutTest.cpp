// Checkpoints in other layouts and types, from the folder to logits, against
// what the public library and the float64 recurrence say
// (test/goldens/layouts). Matrices are kept as they are stored, so f16 and bf16
// are computed from here.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {

struct Layout {
  std::string name;
  Arguments options;
};

class LayoutTest : public testing::TestWithParam<Layout> {
protected:
  std::string golden(const std::string &name) const {
    return EFFC_GOLDENS "/layouts/" + GetParam().name + "/" + name;
  }
  Finished compile(const Arguments &options) {
    Arguments all = {EFFC_PROGRAM, "compile", golden(""), "-o",
                     folder.at("model.effc")};
    all.insert(all.end(), options.begin(), options.end());
    return runProgram(all);
  }
  /// How the logits of the compiled model compare with the golden ones.
  Finished compare(const Arguments &options) {
    Arguments all = {
        EFFC_PROGRAM,          "eval",     folder.at("model.effc"), "--tokens",
        golden("tokens.json"), "--logits", folder.at("logits")};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = runProgram(all);
    if (done.status != 0)
      return done;
    return runProgram(
        {EFFC_COMPARE, folder.at("logits"), golden("golden.safetensors")});
  }

  TemporaryFolder folder;
};

} // namespace

TEST_P(LayoutTest, GivesTheGoldenLogits) {
  Finished done = compile(GetParam().options);
  ASSERT_EQ(done.status, 0) << done.err;
  for (const Arguments &options :
       {Arguments{}, Arguments{"--split", "1", "--batch", "3"}}) {
    done = compare(options);
    EXPECT_EQ(done.status, 0) << done.out << done.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Mamba2, LayoutTest,
                         testing::Values(Layout{"f16_groups2", {}},
                                         Layout{"mamba_ssm_f16_padded", {}},
                                         Layout{"mamba_ssm_f32_groups2", {}},
                                         Layout{"sharded_bf16", {}},
                                         Layout{"ungrouped_f32_groups3",
                                                {"--ungrouped-norm"}}),
                         [](const auto &info) { return info.param.name; });

namespace {
class UngroupedTest : public LayoutTest {};
} // namespace

// The option decides: without it the same checkpoint is another model.
TEST_P(UngroupedTest, GroupsByDefault) {
  ASSERT_EQ(compile({}).status, 0);
  EXPECT_EQ(compare({}).status, 1);
}

INSTANTIATE_TEST_SUITE_P(Mamba2, UngroupedTest,
                         testing::Values(Layout{"ungrouped_f32_groups3", {}}));

namespace {
class NarrowingTest : public LayoutTest {};
} // namespace

// Rounding the weights of an f32 checkpoint to f16 moves the logits by some
// 2^-11 relative; that it moves them at all shows that it happened.
TEST_P(NarrowingTest, RoundsToF16OnRequest) {
  ASSERT_EQ(compile({"--dtype", "f16"}).status, 0);
  Finished done = compare({});
  EXPECT_EQ(done.status, 1) << done.out;
  EXPECT_NE(done.out.find("too far"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("e-01"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("e-02"), std::string::npos) << done.out;
}

INSTANTIATE_TEST_SUITE_P(Mamba2, NarrowingTest,
                         testing::Values(Layout{"mamba_ssm_f32_groups2", {}}));
