// The trained sample, as tools/demo uses it: from the checkpoint to text that
// the public library wrote down, from the command line and from both C
// programs.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>

using namespace effc::test;
using nlohmann::json;
using Arguments = std::vector<std::string>;

static std::string contents(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

namespace {
class Sample : public testing::Test {
protected:
  // Compiled once for all tests of this process.
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    compile("sample.effc");
  }
  static void TearDownTestSuite() { delete folder; }

  static void compile(const std::string &out) {
    Finished done = runProgram({EFFC_PROGRAM, "compile", EFFC_GOLDENS "/sample",
                                "-o", folder->at(out)});
    ASSERT_EQ(done.status, 0) << done.err;
  }
  static Finished effc(const char *command, const Arguments &options) {
    Arguments all = {EFFC_PROGRAM, command, folder->at("sample.effc")};
    all.insert(all.end(), options.begin(), options.end());
    return runProgram(all);
  }

  static TemporaryFolder *folder;
};
TemporaryFolder *Sample::folder = nullptr;
} // namespace

static std::string joined(const json &ids) {
  std::string text;
  for (int id : ids)
    text += (text.empty() ? "" : ",") + std::to_string(id);
  return text + "\n";
}

TEST_F(Sample, CompilesToTheSameBytesTwice) {
  compile("again.effc");
  EXPECT_TRUE(contents(folder->at("sample.effc")) ==
              contents(folder->at("again.effc")));
}

TEST_F(Sample, ContinuesAsTheLibraryDoes) {
  json expected =
      json::parse(std::ifstream(EFFC_GOLDENS "/sample/expected.json"));
  std::string prompt = expected["prompt"];
  std::string count = std::to_string(expected["continuation_ids"].size());
  Finished done =
      effc("run", {"--prompt", prompt, "-n", count, "--print-tokens"});
  EXPECT_EQ(done.out, joined(expected["continuation_ids"])) << done.err;
  done = effc("run", {"--prompt", prompt, "-n", count});
  EXPECT_EQ(done.out, expected["continuation"].get<std::string>() + "\n");
}

TEST_F(Sample, CProgramsGenerateTheSameTokens) {
  const std::string prompt = "And it came to pass", count = "60";
  std::string ids =
      effc("run", {"--prompt", prompt, "-n", count, "--print-tokens"}).out;
  std::string text = effc("run", {"--prompt", prompt, "-n", count}).out;
  for (const char *program : {EFFC_EXAMPLE, EFFC_EXAMPLE_EXPLAINED}) {
    std::string file = folder->at("sample.effc");
    EXPECT_EQ(runProgram({program, file, prompt, count, "ids"}).out, ids);
    EXPECT_EQ(runProgram({program, file, prompt, count}).out, text);
  }
}

TEST_F(Sample, DrawsTheSameTextWithAnyNumberOfThreads) {
  Arguments options = {"--prompt",      "The LORD", "-n",        "80",
                       "--temperature", "0.8",      "--top-p",   "0.9",
                       "--seed",        "3",        "--threads", "1"};
  std::string one = effc("run", options).out;
  options.back() = "2";
  EXPECT_EQ(effc("run", options).out, one);
}

// Ten tokens, then the eleventh fed to the loaded state, then the rest:
// together what thirty tokens are in one go.
TEST_F(Sample, AStateGoesOnInAnotherProcess) {
  auto ids = [](const Finished &done) {
    json list = json::parse("[" + done.out + "]", nullptr, false);
    EXPECT_FALSE(list.is_discarded()) << done.out << done.err;
    return list.get<std::vector<int>>();
  };
  const std::string prompt = "And the LORD said unto Moses",
                    state = folder->at("moses.state");
  std::vector<int> whole =
      ids(effc("run", {"--prompt", prompt, "-n", "30", "--print-tokens"}));
  std::vector<int> first =
      ids(effc("run", {"--prompt", prompt, "-n", "10", "--print-tokens",
                       "--save-state", state}));
  ASSERT_EQ(whole.size(), 30u);
  EXPECT_EQ(first, std::vector<int>(whole.begin(), whole.begin() + 10));
  std::vector<int> rest = ids(
      effc("run", {"--load-state", state, "--tokens", std::to_string(whole[10]),
                   "-n", "19", "--print-tokens"}));
  EXPECT_EQ(rest, std::vector<int>(whole.begin() + 11, whole.end()));
}

TEST_F(Sample, SamplesAreThoseOfTheirSeeds) {
  Arguments options = {
      "--prompt", "In the beginning", "-n", "24", "--temperature",
      "0.9",      "--seed",           "5"};
  Finished three = effc("run", [&] {
    Arguments more = options;
    more.insert(more.end(), {"--samples", "3"});
    return more;
  }());
  std::string expected;
  for (int i = 0; i < 3; ++i) {
    options.back() = std::to_string(5 + i);
    expected += "--- sample " + std::to_string(i) + ", seed " + options.back() +
                " ---\n" + effc("run", options).out;
  }
  EXPECT_EQ(three.out, expected) << three.err;
}

TEST_F(Sample, TokenizesAsTheLibraryDoes) {
  Finished done =
      runProgram({EFFC_TOKENIZER_CASES, EFFC_GOLDENS "/tokenizer/cases.json",
                  folder->at("sample.effc")});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

TEST_F(Sample, InspectsAndChecks) {
  Finished done = effc("inspect", {"--check", "--json", "--budget", "64M"});
  ASSERT_EQ(done.status, 0) << done.err;
  json model = json::parse(done.out);
  EXPECT_EQ(model["check"], "ok");
  EXPECT_EQ(model["vocabulary_size"], 2048);
  EXPECT_EQ(model["provenance"]["family"], "mamba2");
  // Of each layer 256 inputs give 2 * 512 + 2 * 64 + 8 results, 512 give 256,
  // and each of 8 heads takes 4 K V + 16 (K + V) FLOPs for its state of 64 x
  // 64, which is less than 5 K V; the head has 2048 x 256.
  const uint64_t state = 8 * (4 * 64 * 64 + 16 * (64 + 64)),
                 layers = 6 * (2 * (256 * 1160 + 512 * 256) + state),
                 head = 2 * 2048 * 256;
  uint64_t kernels = 0;
  for (const json &kernel : model["kernels"])
    kernels += kernel["step_flops"].get<uint64_t>();
  EXPECT_EQ(kernels, layers + head);
  EXPECT_EQ(model["flops_per_token"], layers + head);
  EXPECT_GT(model["budget"]["sequences"].get<int>(), 10);
}

// A text whose likelihood is far better than chance: the model has learnt.
TEST_F(Sample, PredictsWhatItWasTrainedOn) {
  std::ofstream(folder->at("text"))
      << "And God said, Let there be light: and there was light.\n";
  Finished done = effc("eval", {"--text", folder->at("text"), "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_LT(json::parse(done.out)["perplexity"].get<double>(), 100); // of 2048
}
