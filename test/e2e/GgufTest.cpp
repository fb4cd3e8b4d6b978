// Recorded checkpoints as GGUF files, from the file to logits: written by the
// rules of llama.cpp's converter (write_gguf.py), they give the logits that the
// public library gave, as the checkpoints do. Of architectures whose recorded
// configurations the format cannot say, the file gives the bits of a checkpoint
// whose configuration differs in that alone.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {

class GgufTest : public testing::TestWithParam<std::string> {
protected:
  static std::string golden(const std::string &caseName,
                            const std::string &name = "") {
    return EFFC_GOLDENS "/families/" + caseName + "/" + name;
  }

  void write(const std::string &caseName, const std::string &file,
             const Arguments &options = {}) {
    Arguments all = {"/usr/bin/env", "python3", EFFC_WRITE_GGUF,
                     golden(caseName), folder.at(file)};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = runProgram(all);
    ASSERT_EQ(done.status, 0) << done.err;
  }

  /// Compiles a file or folder and writes the logits of the recorded tokens.
  void evaluate(const std::string &caseName, const std::string &from,
                const std::string &logits) {
    std::string compiled = folder.at(logits + ".effc");
    Finished done = runProgram({EFFC_PROGRAM, "compile", folder.at(from), "-o",
                                compiled, "--dtype", "f32", "--target", "host",
                                "--werror", "fallback", "--prefill-rows", "16",
                                "--max-batch", "2", "--no-optimise"});
    ASSERT_EQ(done.status, 0) << done.err;
    done = runProgram({EFFC_PROGRAM, "eval", compiled, "--tokens",
                       golden(caseName, "tokens.json"), "--logits",
                       folder.at(logits)});
    ASSERT_EQ(done.status, 0) << done.err;
  }

  void expectSameBits(const std::string &a, const std::string &b) {
    Finished done =
        runProgram({EFFC_COMPARE, "--bits", folder.at(a), folder.at(b)});
    EXPECT_EQ(done.status, 0) << done.out << done.err;
  }

  TemporaryFolder folder;
};

/// Those whose recorded configuration the format can say.
class GoldenGgufTest : public GgufTest {};
/// The others.
class AlteredGgufTest : public GgufTest {};

std::string nameOf(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  for (char &c : name)
    c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

} // namespace

TEST_P(GoldenGgufTest, GivesTheRecordedLogits) {
  write(GetParam(), "m.gguf");
  evaluate(GetParam(), "m.gguf", "logits");
  Finished done = runProgram({EFFC_COMPARE, folder.at("logits"),
                              golden(GetParam(), "golden.safetensors")});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

INSTANTIATE_TEST_SUITE_P(
    Families, GoldenGgufTest,
    testing::Values(
        "llama/llama3_scaling", "llama/release_4_linear",
        "llama/biases_yarn_tied_bf16", "mistral/no_window_bf16",
        "granite/plain", "qwen2/tied", "qwen3/head_norms", "qwen2_moe/plain",
        "qwen3_moe/plain", "qwen3_next/plain", "qwen3_5/plain",
        "qwen3_5_moe/single", "phi3/longrope_long", "phi3/plain_window",
        "gemma2/caps_window", "gemma3/text_linear", "gemma3/text_caps",
        "mamba/plain", "falcon_mamba/plain", "mamba2/tied_biases_bf16",
        "jamba/experts", "kimi_linear/plain", "mixtral/plain", "olmo2/plain",
        "lfm2/plain", "exaone4/windows", "exaone4/no_window_bf16",
        "cohere2/windows", "granitemoehybrid/experts",
        "granitemoehybrid/dense_bf16", "falcon_h1/gate_alone",
        "nemotron_h/experts", "nemotron_h/letters_bf16",
        "olmo3/released_keys_bf16", "olmo3/scaled", "deepseek_v2/plain",
        "deepseek_v3/released_bf16", "glm4_moe_lite/released_bf16",
        "lfm2_moe/plain", "gemma4/text", "gemma4/shared_bf16",
        "gemma4/seeing_experts_bf16", "minimax_m2/plain",
        "minimax_m2/released_tied_bf16", "bailing_moe/plain",
        "bailing_moe/biases_bf16", "bailing_hybrid/bounded", "sarvam_moe/plain",
        "sarvam_moe/biases_tied_bf16", "ministral3/plain", "mistral3/plain",
        "mistral3/growing_bf16", "gemma4/seeing", "granite_swa/plain",
        "gpt2/plain", "gpt_neox/parallel", "bloom/plain", "plamo2/plain",
        "plamo2/last_attends_bf16", "plamo3/plain", "plamo3/stretched_bf16",
        "rwkv6qwen2/plain", "rwkv6qwen2/later_keys_bf16", "rwkv_hybrid/plain",
        "rwkv_hybrid/no_gates_bf16"),
    nameOf);

TEST_P(AlteredGgufTest, GivesTheCheckpointsBits) {
  write(GetParam(), "m.gguf", {"--checkpoint", folder.at("checkpoint")});
  evaluate(GetParam(), "m.gguf", "logits");
  evaluate(GetParam(), "checkpoint", "expected");
  expectSameBits("logits", "expected");
}

INSTANTIATE_TEST_SUITE_P(
    Families, AlteredGgufTest,
    testing::Values("minimax/own", "rwkv6/plain", "rwkv7/plain",
                    "smollm3/plain", "gpt_oss/plain",
                    "gpt_oss/no_biases_tied_bf16",
                    "falcon_h1/norm_in_groups_bf16", "bamba/plain",
                    "deepseek_v2/groups_yarn_bf16", "deepseek_v3/plain",
                    "granite_swa/thetas_bf16"),
    nameOf);

// Granite 3 with experts is Granite 4 whose layers all attend, and without what
// every token passes.
TEST_F(GgufTest, GraniteWithExpertsGivesTheCheckpointsBits) {
  const std::string recorded = "granitemoehybrid/experts";
  write(recorded, "m.gguf",
        {"--as", "granitemoe", "--checkpoint", folder.at("checkpoint")});
  evaluate(recorded, "m.gguf", "logits");
  evaluate(recorded, "checkpoint", "expected");
  expectSameBits("logits", "expected");
}

// Earlier releases of the converter had keys and values in one tensor.
TEST_F(GgufTest, OldFilesOfDeepSeekGiveTheRecordedLogits) {
  write("deepseek_v2/plain", "m.gguf", {"--old"});
  evaluate("deepseek_v2/plain", "m.gguf", "logits");
  Finished done =
      runProgram({EFFC_COMPARE, folder.at("logits"),
                  golden("deepseek_v2/plain", "golden.safetensors")});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

// A matrix of each kind, as the public package stores it: their codes multiplied as
// integers, and unpacked.
TEST_F(GgufTest, EveryKindOfBlocksGivesTheLibrarysLogits) {
  const std::string recorded = EFFC_GOLDENS "/gguf/kinds/";
  for (const char *products : {"exact", "f32"}) {
    std::string compiled = folder.at(products), logits = compiled + ".logits";
    Finished done = runProgram(
        {EFFC_PROGRAM, "compile", recorded + "model.gguf", "-o", compiled,
         "--target", "host", "--products", products, "--prefill-rows", "16",
         "--max-batch", "2", "--no-optimise"});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_NE(done.err.find("1,201,408 parameters"), std::string::npos)
        << done.err;
    done = runProgram({EFFC_PROGRAM, "eval", compiled, "--tokens",
                       recorded + "tokens.json", "--logits", logits});
    ASSERT_EQ(done.status, 0) << done.err;
    done = runProgram({EFFC_COMPARE, logits, recorded + "golden.safetensors"});
    EXPECT_EQ(done.status, 0) << products << done.out << done.err;
  }
}

// Three files, of which tensors take turns.
TEST_F(GgufTest, ShardsGiveTheBitsOfOneFile) {
  write("qwen2/tied", "m.gguf");
  write("qwen2/tied", "m-00001-of-00003.gguf", {"--shards", "3"});
  evaluate("qwen2/tied", "m.gguf", "one");
  evaluate("qwen2/tied", "m-00001-of-00003.gguf", "three");
  expectSameBits("one", "three");
  Finished done =
      runProgram({EFFC_PROGRAM, "inspect", folder.at("three.effc"), "--json"});
  nlohmann::json sources =
      nlohmann::json::parse(done.out).at("provenance").at("sources");
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[1].at("name"), "m-00002-of-00003.gguf");
}

TEST_F(GgufTest, InspectShowsKeysAndTensors) {
  write("qwen2/tied", "m.gguf");
  Finished done = runProgram({EFFC_PROGRAM, "inspect", folder.at("m.gguf")});
  EXPECT_EQ(done.status, 0) << done.err;
  for (const char *part : {"GGUF 3, ", "general.architecture", "\"qwen2\"",
                           "qwen2.attention.head_count ", "types of tensors",
                           "token_embd.weight", "67x36"})
    EXPECT_NE(done.out.find(part), std::string::npos) << part << done.out;
  done = runProgram({EFFC_PROGRAM, "inspect", folder.at("m.gguf"), "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json.at("version"), 3);
  EXPECT_EQ(json.at("keys")[0],
            (nlohmann::json{{"name", "general.architecture"},
                            {"type", "string"},
                            {"value", "qwen2"}}));
  // 67 x 36 numbers of 4 bytes.
  EXPECT_EQ(json.at("tensors")[0],
            (nlohmann::json{{"name", "token_embd.weight"},
                            {"type", "F32"},
                            {"shape", {67, 36}},
                            {"bytes", 9648},
                            {"file", "m.gguf"}}));
}

// What is refused is told in the file's own names.
TEST_F(GgufTest, RefusalsNameTheFilesTensors) {
  write("qwen2/tied", "m.gguf");
  std::ifstream file(folder.at("m.gguf"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  auto compiling = [&](const std::string &from, const std::string &to) {
    std::string changed = bytes;
    size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos);
    changed.replace(at, from.size(), to);
    std::ofstream(folder.at("n.gguf"), std::ios::binary) << changed;
    return runProgram({EFFC_PROGRAM, "compile", folder.at("n.gguf"), "-o",
                       folder.at("n.effc")})
        .err;
  };
  EXPECT_EQ(compiling("output_norm.weight", "outpux_norm.weight"),
            "effc: error: n.gguf: lacks tensor 'output_norm.weight'\n");
  EXPECT_EQ(compiling("blk.1.attn_q.weight", "blk.1.attn_x.weight"),
            "effc: error: n.gguf: lacks tensor 'blk.1.attn_q.weight'; it has "
            "'blk.1.attn_k.weight'\n");
  EXPECT_EQ(compiling("qwen2.rope.freq_base", "qwen2.rope.freq_bass"),
            "effc: error: n.gguf: unknown key 'qwen2.rope.freq_bass' is "
            "refused: it may change the model; where nothing depends on it, "
            "--allow qwen2.rope.freq_bass\n");
}
