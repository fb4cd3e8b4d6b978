// Mixers that are written in IR, from their text to compiled calls: models/
// holds two that no paper has. Weights are random; verify holds prefill,
// decode, batches and pieces to the reference and to one another.
#include "test/e2e/Process.h"
#include "test/e2e/RandomWeights.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace effc::test;

namespace {

class WrittenMixer : public testing::TestWithParam<std::string> {
protected:
  std::string model() const { return EFFC_MODELS "/" + GetParam() + ".mlir"; }
  TemporaryFolder folder;
};

TEST_P(WrittenMixer, GoesTheWholeWay) {
  std::string module = readText(model());
  EXPECT_LT(std::count(module.begin(), module.end(), '\n'), 60);
  writeRandomWeights(module, folder.at("model.safetensors"));
  Finished done = runProgram({EFFC_PROGRAM, "compile", model(),
                              "--weights-from", folder.at(""), "--werror",
                              "fallback", "-o", folder.at("model.effc")});
  ASSERT_EQ(done.status, 0) << done.err;
  done = runProgram({EFFC_PROGRAM, "verify", folder.at("model.effc")});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

INSTANTIATE_TEST_SUITE_P(Models, WrittenMixer,
                         testing::Values("echo", "corrected", "dual"),
                         [](const auto &info) { return info.param; });

} // namespace
