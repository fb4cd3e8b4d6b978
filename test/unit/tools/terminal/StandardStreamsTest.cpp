// Programs that are started with some of descriptors 0, 1 and 2 closed: the
// files that they open are never taken for one of those.
#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using namespace effc::test;

namespace {
/// Which of the three are closed, one bit each.
class ClosedStreams : public testing::TestWithParam<int> {
protected:
  ClosedStreams() : file(makeToyArtifact()) {
    char name[] = "/tmp/effc-streams-XXXXXX";
    folder = mkdtemp(name);
  }
  ~ClosedStreams() override { std::filesystem::remove_all(folder); }

  /// Runs a line of the shell's, in which the streams are closed.
  Finished run(const std::string &line) const {
    std::string closed;
    for (int stream = 0; stream < 3; ++stream)
      if (GetParam() & 1 << stream)
        closed += " " + std::to_string(stream) + (stream ? ">&-" : "<&-");
    return runProgram({"/bin/sh", "-c", line + closed});
  }
  std::string read(const std::string &name) const {
    std::ifstream in(folder + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryFile file;
  std::string folder;
};
/// Standard input is among them.
class ClosedInput : public ClosedStreams {};
} // namespace

// The logits are those of a run with all streams open: no status line is among
// them.
TEST_P(ClosedStreams, LeaveLogitsAlone) {
  std::ofstream(folder + "/t.json") << "[[1,2,3]]";
  std::string eval = std::string(EFFC_PROGRAM) + " eval " + file.path() +
                     " --tokens " + folder + "/t.json --logits " + folder + "/";
  ASSERT_EQ(runProgram({"/bin/sh", "-c", eval + "open"}).status, 0);
  EXPECT_EQ(run(eval + "closed").status, 0);
  EXPECT_EQ(read("closed"), read("open"));
  EXPECT_GT(read("closed").size(), 3 * kToyVocabulary * sizeof(float));
}

TEST_P(ClosedStreams, LeaveStatesAlone) {
  std::string save = std::string(EFFC_PROGRAM) + " run " + file.path() +
                     " --tokens 1,2,3 -n 3 --print-tokens --save-state " +
                     folder + "/";
  ASSERT_EQ(runProgram({"/bin/sh", "-c", save + "open"}).status, 0);
  EXPECT_EQ(run(save + "closed").status, 0);
  EXPECT_EQ(read("closed"), read("open"));
}

// The prompt is empty and not the model's bytes.
TEST_P(ClosedInput, ReadsNoFileAsThePrompt) {
  ToyOptions options;
  options.changeProgram = [](effc::artifact::ProgramT &program) {
    program.generation->bos = -1;
  };
  TemporaryFile bare(makeToyArtifact(options));
  Finished done = run(std::string(EFFC_PROGRAM) + " run " + bare.path() +
                      " --prompt-file - -n 3");
  EXPECT_EQ(done.status, 1);
  if (!(GetParam() & 4)) {
    EXPECT_NE(done.err.find("the prompt is empty"), std::string::npos)
        << done.err;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClosedStreams, testing::Range(0, 8));
INSTANTIATE_TEST_SUITE_P(All, ClosedInput, testing::Values(1, 3, 5, 7));
