// An artifact of every format version that was ever written still loads, passes
// its checks and gives the logits of the checkpoint it was made from.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace effc::test;

namespace {
class ArtifactVersion : public testing::TestWithParam<std::string> {
protected:
  std::string path() const {
    return EFFC_GOLDENS "/artifacts/" + GetParam() + ".effc";
  }
  /// The checkpoint that it was compiled from.
  std::string source() const {
    bool referenced = GetParam().find("referenced") != std::string::npos;
    return std::string(EFFC_GOLDENS) + (referenced
                                            ? "/layouts/mamba_ssm_f16_padded/"
                                            : "/mamba2/f32_plain/");
  }
  TemporaryFolder folder;
};
} // namespace

TEST_P(ArtifactVersion, PassesItsChecks) {
  Finished done = runProgram({EFFC_PROGRAM, "inspect", path(), "--check"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

TEST_P(ArtifactVersion, GivesTheGoldenLogits) {
  Finished done =
      runProgram({EFFC_PROGRAM, "eval", path(), "--tokens",
                  source() + "tokens.json", "--logits", folder.at("logits")});
  ASSERT_EQ(done.status, 0) << done.err;
  done = runProgram(
      {EFFC_COMPARE, folder.at("logits"), source() + "golden.safetensors"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

// The state file of format 1.0 was saved after the tokens 1 to 5.
TEST(StateVersion, GoesOnWhereItWasSaved) {
  auto tokens = [](std::vector<std::string> more) {
    more.insert(more.begin(),
                {EFFC_PROGRAM, "run", EFFC_GOLDENS "/artifacts/1.0.effc", "-n",
                 "12", "--print-tokens", "--temperature", "0"});
    Finished done = runProgram(more);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.out;
  };
  EXPECT_EQ(tokens({"--load-state", EFFC_GOLDENS "/states/1.0.state",
                    "--tokens", "9"}),
            tokens({"--tokens", "1,2,3,4,5,9"}));
}

static std::vector<std::string> versions() {
  std::vector<std::string> names;
  for (const auto &entry :
       std::filesystem::directory_iterator(EFFC_GOLDENS "/artifacts"))
    if (entry.path().extension() == ".effc")
      names.push_back(entry.path().stem());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Formats, ArtifactVersion,
                         testing::ValuesIn(versions()), [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (c == '.' || c == '-')
                               c = '_';
                           return name;
                         });
