// `effc compile --product-inputs` and `effc eval --collect-importance`: sums of squares
// beside those of the public library (goldens/importance.json), and the way back to
// `effc compile --importance`.
#include "frontend/gguf/Header.h"
#include "test/e2e/FamilyFile.h"
#include "test/e2e/TemporaryFolder.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

using namespace effc::test;
using namespace effc::frontend;
using Arguments = std::vector<std::string>;
using Tensors = std::map<std::string, std::vector<float>>;

namespace {

class Importance : public testing::Test {
protected:
  Finished compile(const std::string &model, const std::string &to,
                   Arguments options) {
    options.insert(options.end(), {"--target", "host", "--no-optimise"});
    return compileFamily(model, folder.at(to), options);
  }
  Finished eval(const std::string &model, const Arguments &options) {
    Arguments all = {EFFC_PROGRAM,
                     "eval",
                     folder.at("model.effc"),
                     "--tokens",
                     familyFolder(model) + "/tokens.json",
                     "--device",
                     "host"};
    all.insert(all.end(), options.begin(), options.end());
    return runProgram(all);
  }
  /// Gathers importance of a case into importance.gguf.
  void collect(const std::string &model, const Arguments &options = {}) {
    Finished done = compile(model, "model.effc", {"--product-inputs"});
    ASSERT_EQ(done.status, 0) << done.err;
    Arguments all = {"--collect-importance", folder.at("importance.gguf")};
    all.insert(all.end(), options.begin(), options.end());
    done = eval(model, all);
    ASSERT_EQ(done.status, 0) << done.err;
  }
  /// The file's tensors by their names.
  Tensors read() {
    std::ifstream stream(folder.at("importance.gguf"), std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(stream), {});
    auto header = llvm::cantFail(
        parseGgufHeader(llvm::arrayRefFromStringRef(bytes), "importance.gguf"));
    Tensors tensors;
    for (const TensorEntry &entry : header.tensors.entries) {
      std::vector<float> &numbers = tensors[entry.name];
      numbers.resize((entry.end - entry.begin) / sizeof(float));
      std::memcpy(numbers.data(),
                  bytes.data() + header.tensors.dataOffset + entry.begin,
                  entry.end - entry.begin);
    }
    return tensors;
  }

  /// An entry is the golden's. What is read has errors of some 2^-24 for each layer
  /// before it, and squares twice these: measured, 4e-7 of the largest.
  void expectSums(const Tensors &file, const std::string &entry,
                  const std::string &model, const std::string &tensor) {
    SCOPED_TRACE(entry);
    const nlohmann::json &expected = goldens.at(model).at(tensor);
    ASSERT_TRUE(file.count(entry + ".in_sum2"));
    const std::vector<float> &found = file.at(entry + ".in_sum2");
    EXPECT_EQ(file.at(entry + ".counts"),
              expected["counts"].get<std::vector<float>>());
    size_t at = 0;
    for (const nlohmann::json &row : expected["sums"]) {
      auto sums = row.get<std::vector<double>>();
      double largest = *std::max_element(sums.begin(), sums.end());
      for (double sum : sums) {
        ASSERT_LT(at, found.size());
        EXPECT_NEAR(found[at++], sum, 2e-6 * largest);
      }
    }
    EXPECT_EQ(at, found.size());
  }

  nlohmann::json goldens =
      nlohmann::json::parse(std::ifstream(EFFC_GOLDENS "/importance.json"));
  TemporaryFolder folder;
};

} // namespace

// Three sequences, several of them in one call; and in windows that end within them,
// which what the first layer's queries read does not depend on.
TEST_F(Importance, OfMatricesIsTheLibrarys) {
  std::string model = "llama/llama3_scaling";
  collect(model, {"--batch", "3"});
  Tensors file = read();
  EXPECT_EQ(file.size(), 28u); // sums and counts of seven of each of two layers
  std::pair<const char *, const char *> names[] = {
      {"attn_q", "self_attn.q_proj"}, {"attn_k", "self_attn.k_proj"},
      {"attn_v", "self_attn.v_proj"}, {"attn_output", "self_attn.o_proj"},
      {"ffn_gate", "mlp.gate_proj"},  {"ffn_up", "mlp.up_proj"},
      {"ffn_down", "mlp.down_proj"},
  };
  for (std::string layer : {"0.", "1."})
    for (auto [entry, tensor] : names)
      expectSums(file, "blk." + layer + entry + ".weight", model,
                 "model.layers." + layer + tensor + ".weight");
  collect(model, {"--window", "7"});
  expectSums(read(), "blk.0.attn_q.weight", model,
             "model.layers.0.self_attn.q_proj.weight");
}

// One by one in the checkpoint, which llama.cpp has in one tensor.
TEST_F(Importance, OfExpertsIsThatOfTheTokensThatTookThem) {
  std::string model = "qwen3_moe/plain",
              experts = "model.layers.1.mlp.experts.";
  collect(model);
  Tensors file = read();
  for (const char *entry : {"gate", "up"})
    expectSums(file, std::string("blk.1.ffn_") + entry + "_exps.weight", model,
               experts + "gate_up_proj");
  expectSums(file, "blk.1.ffn_down_exps.weight", model, experts + "down_proj");
  expectSums(file, "blk.2.ffn_down.weight", model,
             "model.layers.2.mlp.down_proj.weight");
}

// Gates and ups in one tensor, of which llama.cpp has two. What every token passes is
// called so beside experts.
TEST_F(Importance, OfJoinedTensorsHasTheNamesOfTheirParts) {
  std::string model = "granitemoehybrid/experts", layer = "model.layers.1.";
  collect(model);
  Tensors file = read();
  for (std::string part : {"gate", "up"}) {
    expectSums(file, "blk.1.ffn_" + part + "_shexp.weight", model,
               layer + "shared_mlp.input_linear.weight");
    expectSums(file, "blk.1.ffn_" + part + "_exps.weight", model,
               layer + "block_sparse_moe.experts.gate_up_proj");
  }
  expectSums(file, "blk.1.ffn_down_exps.weight", model,
             layer + "block_sparse_moe.experts.down_proj");
  expectSums(file, "blk.0.ssm_out.weight", model,
             "model.layers.0.mamba.out_proj.weight");
}

// Gates and ups of one tensor are two products that read the same, and count once. Units
// are those before the weights of their experts.
TEST_F(Importance, OfExpertsWithBiasesCountsATokenOnce) {
  std::string model = "gpt_oss/plain";
  collect(model);
  Tensors file = read();
  for (std::string layer : {"0.", "1."}) {
    std::string experts = "model.layers." + layer + "mlp.experts.";
    for (std::string part : {"gate", "up"})
      expectSums(file, "blk." + layer + "ffn_" + part + "_exps.weight", model,
                 experts + "gate_up_proj");
    expectSums(file, "blk." + layer + "ffn_down_exps.weight", model,
               experts + "down_proj");
  }
}

// Some of which no token takes.
TEST_F(Importance, OfExpertsWithoutGatesIsBeforeTheirWeights) {
  std::string model = "nemotron_h/experts";
  collect(model);
  Tensors file = read();
  for (std::string layer : {"1.", "3."}) {
    std::string experts = "model.layers." + layer + "mixer.experts.";
    expectSums(file, "blk." + layer + "ffn_up_exps.weight", model,
               experts + "up_proj");
    expectSums(file, "blk." + layer + "ffn_down_exps.weight", model,
               experts + "down_proj");
  }
}

// In each of two layers one for queries, keys and values, one for gates and ups, and two
// for what they give: 30, 30, 48 and 44 numbers.
TEST_F(Importance, OfOneValueTakesOneRow) {
  std::string model = "llama/llama3_scaling";
  ASSERT_EQ(compile(model, "model.effc", {"--product-inputs"}).status, 0);
  Finished done =
      runProgram({EFFC_PROGRAM, "inspect", folder.at("model.effc"), "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  std::vector<std::string> names;
  size_t numbers = 0;
  nlohmann::json file = nlohmann::json::parse(done.out);
  for (const nlohmann::json &tap : file.at("taps")) {
    names.push_back(tap.at("name"));
    ASSERT_EQ(tap.at("shape").size(), 1u);
    numbers += tap.at("shape")[0].get<size_t>();
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "blk.0.attn_q.weight|blk.0.attn_k.weight|blk.0.attn_v.weight"
                ":input",
                "blk.0.attn_output.weight:input",
                "blk.0.ffn_gate.weight|blk.0.ffn_up.weight:input",
                "blk.0.ffn_down.weight:input",
                "blk.1.attn_q.weight|blk.1.attn_k.weight|blk.1.attn_v.weight"
                ":input",
                "blk.1.attn_output.weight:input",
                "blk.1.ffn_gate.weight|blk.1.ffn_up.weight:input",
                "blk.1.ffn_down.weight:input"}));
  EXPECT_EQ(numbers, 2 * (30u + 30 + 48 + 44));
}

// The sum of weights by which LFM2 divides what experts give.
TEST_F(Importance, OfNumbersOfTheConfigurationIsNamedAsMissing) {
  Finished done = compile("lfm2_moe/plain", "model.effc",
                          {"--product-inputs", "--remarks", "-"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_NE((done.out + done.err)
                .find("nothing is gathered of matrix 'shares', which follows "
                      "from the configuration and is not rounded; "),
            std::string::npos)
      << done.out << done.err;
}

// Every matrix but the table of embeddings finds its entry again.
TEST_F(Importance, IsReadAgain) {
  std::string model = "qwen2/windows_above";
  collect(model);
  Finished done = compile(model, "small.effc",
                          {"--weights-type", "q4_0", "--importance",
                           folder.at("importance.gguf"), "--werror", "fallback",
                           "--remarks", folder.at("remarks")});
  ASSERT_EQ(done.status, 0) << done.err;
  std::string remarks;
  std::getline(std::ifstream(folder.at("remarks")), remarks, '\0');
  EXPECT_NE(remarks.find("matrices is that of 'importance.gguf'"),
            std::string::npos);
  size_t without = 0;
  for (size_t at = 0; (at = remarks.find("rounded without importance", at)) !=
                      std::string::npos;
       ++at)
    ++without;
  EXPECT_EQ(without, 1u) << remarks;
}

TEST_F(Importance, NeedsAFileThatGivesInputs) {
  std::string model = "llama/llama3_scaling";
  ASSERT_EQ(compile(model, "model.effc", {}).status, 0);
  Arguments options = {"--collect-importance", folder.at("importance.gguf")};
  Finished done = eval(model, options);
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("gives logits: effc compile --product-inputs makes a "
                          "file that gives what matrices are multiplied by"),
            std::string::npos)
      << done.err;
  ASSERT_EQ(compile(model, "model.effc", {"--tap", "embeddings"}).status, 0);
  done = eval(model, options);
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("the file gives 'embeddings', which is not what a "
                          "matrix is multiplied by"),
            std::string::npos)
      << done.err;
  Arguments strided = options;
  strided.insert(strided.end(), {"--window", "4", "--stride", "2"});
  done = eval(model, strided);
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("it has no --stride"), std::string::npos) << done.err;
  options.insert(options.end(), {"--targets", "x"});
  done = eval(model, options);
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("--targets does not go with --collect-importance"),
            std::string::npos)
      << done.err;
  done = compile(model, "model.effc", {"--product-inputs", "--hidden"});
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(
      done.err.find("--product-inputs and --hidden both say what is given "
                    "in place of logits"),
      std::string::npos)
      << done.err;
}
