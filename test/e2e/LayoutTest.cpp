// Checkpoints in other layouts and types, from the folder to logits, against
// what the public library and the float64 recurrence say
// (test/goldens/layouts). Matrices are kept as they are stored, so f16 and bf16
// are computed from here.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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
    Arguments all = {
        EFFC_PROGRAM, "compile", golden(""),     "-o", folder.at("model.effc"),
        "--target",   "host",    "--no-optimise"};
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

/// The sample as the package mamba_ssm would have it: other names, and 9 rows
/// of embeddings more than its tokenizer has ids, all zero.
static void writePaddedSample(const std::string &folder) {
  std::string sample = EFFC_GOLDENS "/sample/";
  std::ifstream file(sample + "model.safetensors", std::ios::binary);
  uint64_t size = 0;
  file.read(reinterpret_cast<char *>(&size), 8);
  std::string text(size, ' ');
  file.read(text.data(), static_cast<std::streamsize>(size));
  std::string data(std::istreambuf_iterator<char>(file), {});
  nlohmann::json header = nlohmann::json::parse(text), renamed;
  std::string buffer;
  for (auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    uint64_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    uint64_t start = buffer.size();
    buffer += data.substr(begin, end - begin);
    std::string key = name;
    if (name == "backbone.embeddings.weight") {
      key = "backbone.embedding.weight";
      entry["shape"][0] = entry["shape"][0].get<int>() + 9;
      buffer.append(9 * 256 * 2, '\0');
    }
    entry["data_offsets"] = {start, buffer.size()};
    renamed[key] = entry;
  }
  text = renamed.dump();
  size = text.size();
  std::filesystem::create_directory(folder);
  std::ofstream out(folder + "/model.safetensors", std::ios::binary);
  out.write(reinterpret_cast<const char *>(&size), 8) << text << buffer;
  // 2048 ids, rounded up to a multiple of 121.
  std::ofstream(folder + "/config.json") << R"({
    "d_model": 256, "n_layer": 6, "vocab_size": 2048,
    "pad_vocab_size_multiple": 121, "tie_embeddings": true,
    "ssm_cfg": {"layer": "Mamba2", "d_state": 64}})";
  for (const char *name : {"tokenizer.json", "generation_config.json"})
    std::filesystem::copy(sample + name, folder + "/" + name);
}

// A tokenizer may have fewer ids than the table has rows.
TEST(PaddedVocabulary, SaysTheSameText) {
  TemporaryFolder folder;
  writePaddedSample(folder.at("padded"));
  std::string texts[2];
  for (bool padded : {false, true}) {
    std::string model = folder.at("model.effc");
    Finished done = runProgram(
        {EFFC_PROGRAM, "compile",
         padded ? folder.at("padded") : EFFC_GOLDENS "/sample", "-o", model});
    ASSERT_EQ(done.status, 0) << done.err;
    done = runProgram({EFFC_PROGRAM, "run", model, "--prompt",
                       "The LORD that made heaven", "-n", "24", "--temperature",
                       "0"});
    ASSERT_EQ(done.status, 0) << done.err;
    texts[padded] = done.out;
    done = runProgram({EFFC_PROGRAM, "inspect", model, "--json"});
    EXPECT_EQ(nlohmann::json::parse(done.out).at("vocabulary_size"),
              padded ? 2057 : 2048);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(texts[0].find("and earth"), std::string::npos) << texts[0];
}
