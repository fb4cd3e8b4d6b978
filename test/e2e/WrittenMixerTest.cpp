// Mixers that are written in IR, from their text to compiled calls: in models/
// two steps that no paper has, products with semiseparable matrices, one of
// them banded, and a step that is not linear. Weights are random; verify holds
// prefill, decode, batches and pieces to the reference and to one another.
#include "test/e2e/Process.h"
#include "test/e2e/RandomWeights.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <vector>

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

// What tools/README.md tells a reader to do with an example.
TEST(WrittenMixerByHand, RunsWithWeightsFromTheScript) {
  TemporaryFolder folder;
  std::string model = EFFC_MODELS "/corrected.mlir",
              file = folder.at("corrected.effc");
  Finished done = runProgram({EFFC_RANDOM_WEIGHTS, model, folder.at("")});
  ASSERT_EQ(done.status, 0) << done.err;
  done = runProgram({EFFC_PROGRAM, "compile", model, "--weights-from",
                     folder.at(""), "-o", file});
  ASSERT_EQ(done.status, 0) << done.err;
  done = runProgram({EFFC_PROGRAM, "run", file, "--tokens", "3,1,4", "-n", "5",
                     "--print-tokens"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), ','), 4) << done.out;
}

TEST(WrittenMixerByHand, NamesAModelThatIsNotThere) {
  TemporaryFolder folder;
  Finished done = runProgram(
      {EFFC_RANDOM_WEIGHTS, "/nonexistent.mlir", folder.at("weights")});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err, "/nonexistent.mlir: error: cannot be read: No such file "
                      "or directory\n");
  done = runProgram({EFFC_RANDOM_WEIGHTS, EFFC_MODELS "/corrected.mlir",
                     "/dev/null/weights"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err, "/dev/null/weights: error: cannot be written: Not a "
                      "directory\n");
}

// A NaN would reach every token, and so would what an infinity becomes.
TEST(WrittenMixerWeights, AreFiniteOrRefused) {
  TemporaryFolder folder;
  std::string model = EFFC_MODELS "/corrected.mlir",
              weights = folder.at("model.safetensors");
  writeRandomWeights(readText(model), weights);
  std::string numbers = readText(weights);
  // The last element of the file is that of the last weight, 24x24.
  auto compileWith = [&](uint32_t bits) {
    std::string changed = numbers;
    std::memcpy(changed.data() + changed.size() - 4, &bits, 4);
    std::ofstream(weights, std::ios::binary) << changed;
    return runProgram({EFFC_PROGRAM, "compile", model, "--weights-from",
                       folder.at(""), "-o", folder.at("m.effc"), "--remarks",
                       "-"});
  };
  const std::pair<uint32_t, const char *> kNone[] = {
      {0x7fc00000, "NaN"}, {0x7f800000, "inf"}, {0xff800000, "-inf"}};
  for (auto [bits, text] : kNone) {
    Finished done = compileWith(bits);
    EXPECT_EQ(done.status, 1);
    EXPECT_NE(done.err.find("tensor 'out' expects finite numbers, but got " +
                            std::string(text) + " at [23, 23]"),
              std::string::npos)
        << done.err;
    EXPECT_FALSE(std::ifstream(folder.at("m.effc")).good());
  }
  EXPECT_EQ(compileWith(0x7f7fffff).status, 0); // the largest number
}

// What is not linear says which op keeps it from being so, and where that is an
// error nothing is written.
TEST(WrittenCell, RunsTokenByTokenAndSaysWhy) {
  TemporaryFolder folder;
  std::string model = EFFC_MODELS "/cell.mlir", file = folder.at("cell.effc");
  writeRandomWeights(readText(model), folder.at("model.safetensors"));
  std::vector<std::string> compile = {
      EFFC_PROGRAM, "compile",   model, "--weights-from", folder.at(""), "-o",
      file,         "--remarks", "-"};
  Finished done = runProgram(compile);
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.err.find("fallback: form in prefill_16: step, since it is not "
                          "linear: 'seq.recurrence' carries states of shape "
                          "3,8, not one of H,K,V"),
            std::string::npos)
      << done.err;
  done = runProgram({EFFC_PROGRAM, "verify", file});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  EXPECT_NE(done.out.find("stays as it is"), std::string::npos) << done.out;

  compile.insert(compile.end(), {"--werror", "fallback"});
  done = runProgram(compile);
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("is not linear"), std::string::npos) << done.err;
}

INSTANTIATE_TEST_SUITE_P(Models, WrittenMixer,
                         testing::Values("echo", "corrected", "dual", "band",
                                         "shifted"),
                         [](const auto &info) { return info.param; });

} // namespace
