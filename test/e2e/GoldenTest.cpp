// Every golden checkpoint, from its folder to logits: within four times the
// library's own f32 error of the float64 recurrence however the tokens are fed,
// and the same bits for a sequence alone and in a batch, on one thread and on
// two; in the step form also the same bits wherever a prompt is cut, down to
// single tokens, which are decode calls.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {
class Golden : public testing::TestWithParam<std::string> {
protected:
  std::string golden(const std::string &name) const {
    return EFFC_GOLDENS "/mamba2/" + GetParam() + "/" + name;
  }

  void compile(const Arguments &options) {
    Arguments all = {
        EFFC_PROGRAM, "compile", golden(""), "-o",  folder.at("model.effc"),
        "--dtype",    "f32",     "--target", "host"};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = runProgram(all);
    ASSERT_EQ(done.status, 0) << done.err;
  }

  /// Writes logits to `out` and holds them against the golden ones.
  void evaluate(const std::string &out, const Arguments &options) {
    Arguments all = {
        EFFC_PROGRAM,          "eval",     folder.at("model.effc"), "--tokens",
        golden("tokens.json"), "--logits", folder.at(out)};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = runProgram(all);
    ASSERT_EQ(done.status, 0) << done.err;
    done = runProgram(
        {EFFC_COMPARE, folder.at(out), golden("golden.safetensors")});
    EXPECT_EQ(done.status, 0) << testing::PrintToString(options) << "\n"
                              << done.out << done.err;
  }

  void expectSameBits(const std::string &a, const std::string &b) {
    Finished done =
        runProgram({EFFC_COMPARE, "--bits", folder.at(a), folder.at(b)});
    EXPECT_EQ(done.status, 0) << done.out << done.err;
  }

  TemporaryFolder folder;
};
} // namespace

/// Lengths from 1 to 20 in a random order, the same at every run.
static std::string randomSplit(uint32_t seed) {
  std::mt19937 random(seed);
  std::string split;
  for (int i = 0; i < 12; ++i)
    split +=
        (i ? "," : "") + std::to_string(1 + random() % (i % 3 == 0 ? 20 : 4));
  return split;
}

TEST_P(Golden, LogitsForEverySplitAndBatch) {
  compile({});
  for (const std::string &split :
       {std::string("all"), std::string("1"), std::string("5,1,1,64"),
        randomSplit(1), randomSplit(2), randomSplit(3)}) {
    evaluate("alone", {"--split", split, "--threads", "1"});
    evaluate("batch", {"--split", split, "--threads", "2", "--batch", "3"});
    expectSameBits("alone", "batch");
    if (split == "all")
      evaluate("whole", {"--split", split, "--threads", "1"});
    expectSameBits("whole", "alone");
  }
}

// Small entries, so that prompts go in pieces and batches in several calls.
TEST_P(Golden, LogitsInManySmallCalls) {
  compile({"--prefill-rows", "16", "--max-batch", "2"});
  evaluate("alone", {"--threads", "1"});
  evaluate("batch", {"--threads", "2", "--batch", "5"});
  expectSameBits("alone", "batch");
}

// The chunkwise form: pieces end on the chunk grid, which the bits must not
// show.
TEST_P(Golden, LogitsInChunks) {
  compile({"--force-form", "chunkwise:16", "--prefill-rows", "16,48",
           "--max-batch", "4", "--no-optimise"});
  evaluate("alone", {"--threads", "1"});
  evaluate("batch", {"--threads", "2", "--batch", "4"});
  expectSameBits("alone", "batch");
  evaluate("pieces", {"--split", randomSplit(4), "--batch", "2"});
}

TEST_P(Golden, LogitsInTheQuadraticForm) {
  compile({"--force-form", "quadratic", "--max-batch", "2", "--no-optimise"});
  evaluate("all", {});
  evaluate("pieces", {"--split", randomSplit(5), "--batch", "2"});
}

// Nineteen sequences of 4 to 14 tokens decoding together: calls of many sizes,
// most of them no multiple of the rows that a product takes at a time.
TEST_P(Golden, ManySequencesGiveTheSameBits) {
  compile({"--prefill-rows", "16", "--max-batch", "32", "--no-optimise"});
  std::vector<std::vector<int32_t>> recorded =
      nlohmann::json::parse(std::ifstream(golden("tokens.json")));
  std::vector<int32_t> all;
  for (const std::vector<int32_t> &sequence : recorded)
    all.insert(all.end(), sequence.begin(), sequence.end());
  nlohmann::json sequences;
  for (size_t i = 0; i < 19; ++i) {
    std::vector<int32_t> sequence;
    for (size_t k = 0; k < 4 + i * 7 % 11; ++k)
      sequence.push_back(all[(5 * i + k) % all.size()]);
    sequences.push_back(sequence);
  }
  std::ofstream(folder.at("many.json")) << sequences;
  for (const char *batch : {"1", "6", "19"}) {
    Finished done =
        runProgram({EFFC_PROGRAM, "eval", folder.at("model.effc"), "--tokens",
                    folder.at("many.json"), "--logits", folder.at(batch),
                    "--split", "1", "--batch", batch});
    ASSERT_EQ(done.status, 0) << done.err;
    expectSameBits("1", batch);
  }
}

static std::vector<std::string> goldens() {
  std::vector<std::string> names;
  for (const auto &entry :
       std::filesystem::directory_iterator(EFFC_GOLDENS "/mamba2"))
    if (entry.is_directory())
      names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Mamba2, Golden, testing::ValuesIn(goldens()),
                         [](const auto &info) { return info.param; });
