// Models written in IR, of the classes that no checkpoint of the goldens has:
// attention over a window, with and without first tokens that stay, and over
// all keys, experts behind a recurrence, a hybrid, weights by position,
// elementwise recurrences, kernels of several channels. Weights are random;
// verify holds steps, pieces, batches and saved states to the reference and to
// one another, the rest is done as users do it.
#include "test/e2e/Process.h"
#include "test/e2e/RandomWeights.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {

/// A model of models/ in a folder of its own, with random weights.
class CompiledModel {
public:
  explicit CompiledModel(const std::string &name) : name(name) {
    std::string module = readText(path());
    EXPECT_LT(std::count(module.begin(), module.end(), '\n'), 100);
    writeRandomWeights(module, folder.at("model.safetensors"));
    Finished done = compile("model.effc");
    EXPECT_EQ(done.status, 0) << done.err;
  }

  /// Compiles it again under another name.
  Finished compile(const std::string &file, const Arguments &more = {}) {
    Arguments arguments = {
        EFFC_PROGRAM,    "compile",     path(),     "--weights-from",
        folder.at(""),   "--werror",    "fallback", "--prefill-rows",
        "16,64",         "--max-batch", "4",        "-o",
        folder.at(file), "--target",    "host",     "--no-optimise"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runProgram(arguments);
  }

  TemporaryFolder folder;

private:
  std::string path() const { return EFFC_MODELS "/" + name + ".mlir"; }
  std::string name;
};

/// Compiled once for all tests of a model.
class WrittenModel : public testing::TestWithParam<std::string> {
protected:
  static void TearDownTestSuite() { models.clear(); }

  CompiledModel &model() {
    std::unique_ptr<CompiledModel> &model = models[GetParam()];
    if (!model)
      model = std::make_unique<CompiledModel>(GetParam());
    return *model;
  }
  std::string at(const std::string &file) { return model().folder.at(file); }

  Finished effc(const std::string &command, const Arguments &more = {},
                const std::string &file = "model.effc") {
    Arguments arguments = {EFFC_PROGRAM, command, at(file)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runProgram(arguments);
  }

  /// The ids that `effc run` draws, at a temperature that lets every logit
  /// count.
  std::string drawn(Arguments more, const std::string &file = "model.effc") {
    more.insert(more.end(), {"--temperature", "2", "--print-tokens"});
    Finished done = effc("run", more, file);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.out;
  }

  static inline std::map<std::string, std::unique_ptr<CompiledModel>> models;
};

class BoundedModel : public WrittenModel {};

/// `count` ids from `first` on, as `--tokens` takes them.
std::string someTokens(size_t first, size_t count) {
  std::string ids;
  for (size_t i = first; i < first + count; ++i)
    ids += (i > first ? "," : "") + std::to_string((i * 37 + 5) % 61);
  return ids;
}

} // namespace

TEST_P(WrittenModel, Verifies) {
  Finished done = effc("verify");
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

// Longer than every window, every block of keys and the smaller entries.
TEST_P(WrittenModel, AStateGoesOnInAnotherProcess) {
  std::string state = at("state"), rest = someTokens(59, 13);
  Arguments draw = {"-n", "12", "--seed", "4", "--tokens"};
  auto with = [&](Arguments more) {
    more.insert(more.begin(), draw.begin(), draw.end());
    return more;
  };
  std::string whole = drawn(with({someTokens(0, 72)}));
  drawn({"-n", "0", "--tokens", someTokens(0, 59), "--save-state", state});
  EXPECT_EQ(drawn(with({rest, "--load-state", state})), whole);
}

TEST_P(WrittenModel, SamplesAreThoseOfTheirSeeds) {
  Arguments draw = {"-n", "9", "--tokens", someTokens(0, 45), "--seed"};
  auto seeded = [&](Arguments more) {
    more.insert(more.begin(), draw.begin(), draw.end());
    return drawn(more);
  };
  EXPECT_EQ(seeded({"5", "--samples", "3"}),
            seeded({"5"}) + seeded({"6"}) + seeded({"7"}));
}

TEST_P(WrittenModel, IsInspectedAndTimed) {
  Finished done = effc("inspect", {"--state", "--check"});
  EXPECT_EQ(done.status, 0) << done.err;
  done = effc("bench", {"--prefill", "40", "--decode", "4", "--batch", "1,3",
                        "--repeat", "2"});
  EXPECT_EQ(done.status, 0) << done.err;
}

INSTANTIATE_TEST_SUITE_P(Models, WrittenModel,
                         testing::Values("window", "sinks", "full", "experts",
                                         "hybrid", "structured", "elementwise",
                                         "kernels"),
                         [](const auto &info) { return info.param; });

// The model says 100; its table of learned positions has no more rows.
TEST_P(BoundedModel, TakesNoTokenPastItsContext) {
  Finished done = effc(
      "run", {"--tokens", someTokens(0, 100), "-n", "3", "--print-tokens"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), ','), 0);
  EXPECT_NE(done.err.find("the model's context of 100 tokens is full"),
            std::string::npos)
      << done.err;
  done = effc("run", {"--tokens", someTokens(0, 101), "--print-tokens"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(
      done.err.find("the prompt has 101 tokens, but the model's context is "
                    "100 tokens"),
      std::string::npos)
      << done.err;
}

// A state goes from a context of 100 into one of 40, as long as it is not
// longer.
TEST_P(BoundedModel, IsCompiledForOtherContexts) {
  Arguments load = {"--load-state", at("state"), "-n",       "7",
                    "--seed",       "3",         "--tokens", "9,21,4,30"};
  drawn(
      {"-n", "0", "--tokens", someTokens(0, 33), "--save-state", at("state")});
  std::string whole = drawn(load);
  ASSERT_EQ(model().compile("40.effc", {"--max-context", "40"}).status, 0);
  // Positions 37 to 39 are left.
  std::string left = drawn(load, "40.effc");
  left.pop_back(); // the line's end
  EXPECT_EQ(std::count(left.begin(), left.end(), ','), 3);
  EXPECT_EQ(whole.substr(0, left.size()), left);
  ASSERT_EQ(model().compile("32.effc", {"--max-context", "32"}).status, 0);
  load.push_back("--print-tokens");
  Finished done = effc("run", load, "32.effc");
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("at position 33, but 0 to 32 are possible"),
            std::string::npos)
      << done.err;
  done = model().compile("101.effc", {"--max-context", "101"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("to have a row for each of the 101 positions"),
            std::string::npos)
      << done.err;
}

INSTANTIATE_TEST_SUITE_P(Models, BoundedModel,
                         testing::Values("full", "structured", "kernels"),
                         [](const auto &info) { return info.param; });

/// Compiles a module with numbers of its own, in a folder of its own.
static Finished compileText(TemporaryFolder &folder, const std::string &name,
                            const std::string &module,
                            const Arguments &more = {}) {
  std::ofstream(folder.at(name + ".mlir")) << module;
  std::filesystem::create_directory(folder.at(name));
  writeRandomWeights(module, folder.at(name + "/model.safetensors"));
  Arguments arguments = {
      EFFC_PROGRAM,    "compile", folder.at(name + ".mlir"), "--weights-from",
      folder.at(name), "-o",      folder.at(name + ".effc")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return runProgram(arguments);
}

// Tables and blocks are turned as the artifact is written: a checkpoint that
// has the same numbers turned already gives the same weights.
TEST(TransposedWeights, AreThoseOfATurnedCheckpoint) {
  TemporaryFolder folder;
  std::string text = readText(EFFC_MODELS "/kernels.mlir");
  std::string turned = std::regex_replace(text, std::regex(" transposed"), "");
  std::vector<nlohmann::json> models;
  for (auto [name, module] : {std::pair("lying", text), {"turned", turned}}) {
    Finished done = compileText(folder, name, module);
    ASSERT_EQ(done.status, 0) << done.err;
    done = runProgram({EFFC_PROGRAM, "inspect",
                       folder.at(name + std::string(".effc")), "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    models.push_back(nlohmann::json::parse(done.out));
  }
  EXPECT_NE(readText(folder.at("lying/model.safetensors")),
            readText(folder.at("turned/model.safetensors")));
  // Made of the checksums of all weights.
  EXPECT_EQ(models[0].at("layout_id"), models[1].at("layout_id"));
}

// A row of a weight is one of its blocks, 144 elements of four bytes: nine
// lines.
TEST(BlocksOfWeights, MayStayInTheCheckpoint) {
  TemporaryFolder folder;
  std::string text = std::regex_replace(readText(EFFC_MODELS "/kernels.mlir"),
                                        std::regex(" transposed"), "");
  ASSERT_EQ(compileText(folder, "embedded", text).status, 0);
  Finished done = compileText(folder, "referenced", text,
                              {"--weights", "reference", "--remarks", "-"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_NE(
      done.err.find("remark: gate: stays in referenced/model.safetensors"),
      std::string::npos)
      << done.err;
  std::vector<std::string> drawn;
  for (const char *name : {"embedded.effc", "referenced.effc"}) {
    done = runProgram({EFFC_PROGRAM, "run", folder.at(name), "--tokens",
                       someTokens(0, 30), "-n", "20", "--seed", "4",
                       "--temperature", "2", "--print-tokens"});
    EXPECT_EQ(done.status, 0) << done.err;
    drawn.push_back(done.out);
  }
  EXPECT_EQ(drawn[0], drawn[1]);
}

TEST(TransposedWeights, AreNotReferenced) {
  TemporaryFolder folder;
  Arguments reference = {"--weights", "reference", "--remarks", "-"};
  Finished done = compileText(folder, "small",
                              readText(EFFC_MODELS "/kernels.mlir"), reference);
  ASSERT_EQ(done.status, 0) << done.err;
  for (const char *name : {"targets", "taps", "shift", "gate"})
    EXPECT_NE(done.err.find("remark: " + std::string(name) +
                            ": is embedded: the checkpoint holds its "
                            "transpose"),
              std::string::npos)
        << done.err;
  // 5000 x 64 elements of four bytes are more than a megabyte.
  done = compileText(folder, "large", R"(
module attributes {seq.model = #seq.model<family = "learned", vocabulary = 61, width = 64, max_context = 5000>} {
  seq.weight @embeddings source("embeddings") : tensor<61x64xf32>
  seq.weight @places source("places") transposed : tensor<5000x64xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, %positions: tensor<?xi32>) -> tensor<?x61xf32> {
    %embeddings = seq.parameter @embeddings : tensor<61x64xf32>
    %places = seq.parameter @places : tensor<5000x64xf32>
    %x = seq.embedding %tokens, %embeddings : (tensor<?xi32>, tensor<61x64xf32>) -> tensor<?x64xf32>
    %p = seq.embedding %positions, %places : (tensor<?xi32>, tensor<5000x64xf32>) -> tensor<?x64xf32>
    %y = seq.add %x, %p : tensor<?x64xf32>
    %last = seq.select_rows %y, %rows : (tensor<?x64xf32>, tensor<?xi32>) -> tensor<?x64xf32>
    %logits = seq.lm_head %last, %embeddings : (tensor<?x64xf32>, tensor<61x64xf32>) -> tensor<?x61xf32>
    return %logits : tensor<?x61xf32>
  }
}
)",
                     reference);
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("tensor 'places' cannot be used where it is stored: "
                          "the checkpoint holds its transpose; use --weights "
                          "embed"),
            std::string::npos)
      << done.err;
}
