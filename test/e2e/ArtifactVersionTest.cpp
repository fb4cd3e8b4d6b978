// An artifact of every format version that was ever released still loads, passes
// its checks, gives the logits of the checkpoint it was made from, and reads
// and writes text as its tokenizer does.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc::test;

namespace {
class AnyArtifact : public testing::TestWithParam<std::string> {
protected:
  std::string path() const {
    return EFFC_GOLDENS "/artifacts/" + GetParam() + ".effc";
  }
};

/// Of a checkpoint with recorded logits.
class ArtifactVersion : public AnyArtifact {
protected:
  /// The checkpoint that it was compiled from.
  std::string source() const {
    bool referenced = GetParam().find("referenced") != std::string::npos;
    return std::string(EFFC_GOLDENS) + (referenced
                                            ? "/layouts/mamba_ssm_f16_padded/"
                                            : "/mamba2/f32_plain/");
  }
  TemporaryFolder folder;
};

/// Of the sample, whose tokenizer and text are recorded.
class TokenizerVersion : public AnyArtifact {};

/// With code for a GPU beside the host's.
class GpuVersion : public AnyArtifact {};

/// What a name has behind its version.
enum class Kind { Plain, Tokenizer, Gpu };
} // namespace

TEST_P(AnyArtifact, PassesItsChecks) {
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

// 588 texts and their ids, by the public library.
TEST_P(TokenizerVersion, TokenizesAsTheLibraryDoes) {
  Finished done = runProgram(
      {EFFC_TOKENIZER_CASES, EFFC_GOLDENS "/tokenizer/cases.json", path()});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

// From a prompt to the text that the public library continues it with.
TEST_P(TokenizerVersion, ContinuesAsTheLibraryDoes) {
  auto expected = nlohmann::json::parse(
      std::ifstream(EFFC_GOLDENS "/sample/expected.json"));
  Finished done =
      runProgram({EFFC_PROGRAM, "run", path(), "--prompt", expected["prompt"],
                  "-n", std::to_string(expected["continuation_ids"].size())});
  EXPECT_EQ(done.out, expected["continuation"].get<std::string>() + "\n")
      << done.err;
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

// All that a device with a GPU would be told, tokens without logits and products for
// a library among it.
TEST_P(GpuVersion, TellsWhatAGpuDoes) {
  Finished done = runProgram({EFFC_PROGRAM, "inspect", path(), "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json about = nlohmann::json::parse(done.out);
  ASSERT_EQ(about["targets"].size(), 1u);
  const nlohmann::json &target = about["targets"][0];
  EXPECT_EQ(target["name"], "sm_80");
  EXPECT_GT(target["kernels"].size(), 10u);
  for (const nlohmann::json &kernel : target["kernels"])
    EXPECT_EQ(kernel["spill_bytes"], 0) << kernel["name"];
  for (const nlohmann::json &entry : target["entries"]) {
    bool isDecode = entry["kind"] == "decode";
    EXPECT_EQ(entry["chooses"], isDecode) << entry["name"];
    EXPECT_EQ(entry["library_products"], isDecode ? 0 : 2) << entry["name"];
  }
  // The host's code is there as well.
  done =
      runProgram({EFFC_PROGRAM, "run", path(), "--device", "host", "--tokens",
                  "1,2", "-n", "3", "--print-tokens", "--temperature", "0"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), ','), 2) << done.out;
}

static Kind kindOf(const std::string &name) {
  return name.find("-tokenizer") != std::string::npos ? Kind::Tokenizer
         : name.find("-gpu") != std::string::npos     ? Kind::Gpu
                                                      : Kind::Plain;
}

// The names of the artifacts of a kind.
static std::vector<std::string> versions(Kind kind) {
  std::vector<std::string> names;
  for (const auto &entry :
       std::filesystem::directory_iterator(EFFC_GOLDENS "/artifacts")) {
    std::string name = entry.path().stem();
    if (entry.path().extension() == ".effc" && kindOf(name) == kind)
      names.push_back(name);
  }
  return names;
}

static std::vector<std::string> allVersions() {
  std::vector<std::string> names;
  for (Kind kind : {Kind::Plain, Kind::Tokenizer, Kind::Gpu})
    for (std::string &name : versions(kind))
      names.push_back(std::move(name));
  return names;
}

static std::string testName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  for (char &c : name)
    if (c == '.' || c == '-')
      c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Formats, AnyArtifact, testing::ValuesIn(allVersions()),
                         testName);
INSTANTIATE_TEST_SUITE_P(Formats, ArtifactVersion,
                         testing::ValuesIn(versions(Kind::Plain)), testName);
INSTANTIATE_TEST_SUITE_P(Formats, TokenizerVersion,
                         testing::ValuesIn(versions(Kind::Tokenizer)),
                         testName);
INSTANTIATE_TEST_SUITE_P(Formats, GpuVersion,
                         testing::ValuesIn(versions(Kind::Gpu)), testName);
