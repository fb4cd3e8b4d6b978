// `effc rebind`: the file that compiling another checkpoint of the model gives, byte
// for byte, without compiling. The other checkpoint is a recorded one with every
// number changed.

#include "test/e2e/Process.h"
#include "test/e2e/RandomWeights.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace effc::test;
using Json = nlohmann::json;
using Arguments = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

/// Changes the upper bits of each fraction in a safetensors file: by about a third of
/// f32 and bf16, by a twentieth of f16; zeros become tiny. Integers and bytes stay:
/// some of them are places, which make another model.
void changeNumbers(const std::string &path) {
  std::string file = readText(path);
  uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  uint64_t data = sizeof header + header;
  Json tensors = Json::parse(file.substr(sizeof header, header));
  for (const auto &[name, tensor] : tensors.items()) {
    if (name == "__metadata__")
      continue;
    std::string type = tensor["dtype"];
    bool isWide = type == "F32";
    if (!isWide && type != "BF16" && type != "F16")
      continue;
    uint64_t end = tensor["data_offsets"][1];
    for (uint64_t at = tensor["data_offsets"][0]; at < end;
         at += isWide ? 4 : 2)
      file[data + at + (isWide ? 2 : 0)] ^= 0x2c;
  }
  std::ofstream(path, std::ios::binary) << file;
}

class Rebind : public testing::Test {
protected:
  /// Makes the folders `a` and `b`: a recorded checkpoint, and the changed one.
  void copyCheckpoint(const std::string &golden) {
    for (const char *name : {"a", "b"}) {
      fs::create_directory(folder.at(name));
      for (const auto &file : fs::directory_iterator(EFFC_GOLDENS "/" + golden))
        fs::copy(file.path(), folder.at(name));
      // What the tests of the checkpoint expect of it.
      for (const char *recorded : {"golden.safetensors", "expected.safetensors",
                                   "expected.json", "tokens.json"})
        fs::remove(folder.at(name) + "/" + recorded);
    }
    changeFolder("b");
  }
  void changeFolder(const std::string &name) {
    for (const auto &file : fs::directory_iterator(folder.at(name)))
      if (file.path().extension() == ".safetensors")
        changeNumbers(file.path());
  }
  Finished effc(Arguments arguments) {
    arguments.insert(arguments.begin(), EFFC_PROGRAM);
    return runProgram(arguments);
  }
  void compile(const std::string &model, const std::string &file,
               const Arguments &options) {
    Arguments all = {
        "compile", folder.at(model), "-o", folder.at(file), "--prefill-rows",
        "16",      "--max-batch",    "2"};
    // Code of GPUs is optimised whatever is asked for.
    if (std::find(options.begin(), options.end(), "sim_90a") == options.end())
      all.push_back("--no-optimise");
    all.insert(all.end(), options.begin(), options.end());
    Finished done = effc(all);
    ASSERT_EQ(done.status, 0) << done.err;
  }
  Json rebind(const std::string &file, const std::string &model,
              const std::string &output, const Arguments &options = {}) {
    Arguments all = {"rebind", folder.at(file),   folder.at(model),
                     "-o",     folder.at(output), "--json"};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = effc(all);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.status == 0 ? Json::parse(done.out) : Json();
  }
  Json inspect(const std::string &file) {
    Finished done = effc({"inspect", folder.at(file), "--json"});
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out);
  }
  std::string contents(const std::string &file) {
    return readText(folder.at(file));
  }
  /// Of `b` into the file that `a` was compiled into, and back.
  void expectBytesOfCompiling(const Arguments &options, bool hasIntegers);
  /// Compared so that a failure does not print machine code.
  bool isSame(const std::string &a, const std::string &b) {
    return contents(a) == contents(b);
  }

  TemporaryFolder folder;
};

void Rebind::expectBytesOfCompiling(const Arguments &options,
                                    bool hasIntegers) {
  compile("a", "model.effc", options);
  compile("b", "expected.effc", options);
  Json said = rebind("model.effc", "b", "bound.effc");
  EXPECT_TRUE(isSame("bound.effc", "expected.effc"));
  EXPECT_FALSE(isSame("bound.effc", "model.effc"));
  // Every tensor is another one, vectors and norms as well.
  uint64_t ofTensors = 0;
  Json weights = inspect("bound.effc")["weights"];
  for (const Json &weight : weights)
    ofTensors += weight["source"] != "";
  EXPECT_EQ(said["weights"], weights.size());
  EXPECT_GT(ofTensors, 0u);
  if (hasIntegers) {
    EXPECT_GT(said["changed"], 0);
    EXPECT_LE(said["changed"], ofTensors);
  } else {
    EXPECT_EQ(said["changed"], ofTensors);
  }
  EXPECT_EQ(said["left_aside"], Json::array());
  EXPECT_EQ(effc({"inspect", folder.at("bound.effc"), "--check"}).status, 0);
  // And back, into the file itself.
  rebind("bound.effc", "a", "bound.effc");
  EXPECT_TRUE(isSame("bound.effc", "model.effc"));
  EXPECT_EQ(folder.names(),
            (Arguments{"a", "b", "bound.effc", "expected.effc", "model.effc"}));
}

struct Case {
  const char *name, *golden;
  Arguments options = {};
};

void PrintTo(const Case &one, std::ostream *stream) { *stream << one.name; }

class RebindCases : public Rebind, public testing::WithParamInterface<Case> {};

/// By the type that weights are rounded to.
class RebindBundles : public Rebind,
                      public testing::WithParamInterface<const char *> {};

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

} // namespace

TEST_P(RebindCases, GivesTheBytesOfCompiling) {
  copyCheckpoint(GetParam().golden);
  expectBytesOfCompiling(GetParam().options, /*hasIntegers=*/false);
}

INSTANTIATE_TEST_SUITE_P(
    Checkpoints, RebindCases,
    testing::Values(
        Case{"TiedHeadBf16", "mamba2/bf16_tied"},
        Case{"ShardsBf16", "layouts/sharded_bf16"},
        Case{"TokenizerTemplateAndSettings", "sample"},
        Case{"PanelsOf8Bits", "sample", {"--weights-type", "q8_0"}},
        Case{"MixOfTypes", "sample", {"--weights-type", "q4_k_m"}},
        Case{"InTheCheckpointsFiles",
             "layouts/mamba_ssm_f16_padded",
             {"--weights", "reference"}},
        Case{"HybridWithExperts", "families/jamba/experts"},
        Case{"HybridWithExpertsOf8Bits",
             "families/qwen3_next/plain",
             {"--weights-type", "q8_0"}},
        Case{"ComputedAndDerived", "families/bailing_hybrid/lightning_bf16"},
        Case{"LatentKeys", "families/kimi_linear/plain"},
        Case{"HiddenRows", "mamba2/f32_groups2", {"--hidden"}},
        Case{"StatesOf16BitsInChunks",
             "mamba2/f32_plain",
             {"--state-dtype", "bf16", "--force-form", "chunkwise:8"}},
        Case{"SeveralLevels",
             "mamba2/f32_plain",
             {"--target", "host,x86-64-v4"}}),
    nameOf);

// What a GPU reads lies in another order than a checkpoint's blocks.
TEST_P(RebindBundles, GiveTheBytesOfCompilingAndTheNumbersOfBlocks) {
  copyCheckpoint("sample");
  Arguments options = {"--weights-type", GetParam(), "--target", "sim_90a"};
  Arguments text = {"compile", folder.at("a"), "--compile-to", "plan"};
  text.insert(text.end(), options.begin(), options.end());
  Finished done = effc(text);
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.out.find(" bundles("), std::string::npos);
  expectBytesOfCompiling(options, /*hasIntegers=*/false);
  // The reference has blocks again, also of a bundle that is a single one (q4_k's).
  done = effc({"verify", folder.at("model.effc"), "--device", "sim",
               "--no-compile", "--tokens", "2"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

INSTANTIATE_TEST_SUITE_P(Types, RebindBundles, testing::Values("q8_0", "q4_k"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

// Checkpoints that are quantised already; scales change, and codes stay.
TEST_F(Rebind, QuantisedCheckpoints) {
  for (auto [family, layout] : {std::pair{"llama", "int4_zeros"},
                                {"qwen3_moe", "fp8"},
                                {"mamba2", "int8"}}) {
    for (const char *name : {"a", "b"}) {
      fs::remove_all(folder.at(name));
      Finished done =
          runProgram({"/usr/bin/env", "python3", EFFC_WRITE_QUANTISED, family,
                      layout, folder.at(name), folder.at("dense")});
      ASSERT_EQ(done.status, 0) << done.err;
    }
    fs::remove_all(folder.at("dense"));
    changeFolder("b");
    expectBytesOfCompiling({"--no-tokenizer"}, /*hasIntegers=*/true);
  }
}

// A module that was written has its weights elsewhere.
TEST_F(Rebind, WrittenModels) {
  const std::string module = EFFC_MODELS "/hybrid.mlir";
  for (const char *name : {"a", "b"}) {
    fs::create_directory(folder.at(name));
    writeRandomWeights(readText(module),
                       folder.at(std::string(name) + "/model.safetensors"));
  }
  changeFolder("b");
  for (const char *name : {"a", "b"}) {
    Finished done =
        effc({"compile", module, "--weights-from", folder.at(name), "-o",
              folder.at(std::string(name) + ".effc"), "--no-optimise"});
    ASSERT_EQ(done.status, 0) << done.err;
  }
  Finished done = effc({"rebind", folder.at("a.effc"), module, "--weights-from",
                        folder.at("b"), "-o", folder.at("bound.effc")});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(isSame("bound.effc", "b.effc"));
  EXPECT_FALSE(isSame("a.effc", "b.effc"));
}

TEST_F(Rebind, GgufFiles) {
  copyCheckpoint("families/qwen2/tied");
  for (const std::string name : {"a", "b"}) {
    Finished done = runProgram({"/usr/bin/env", "python3", EFFC_WRITE_GGUF,
                                folder.at(name), folder.at(name + ".gguf")});
    ASSERT_EQ(done.status, 0) << done.err;
    compile(name + ".gguf", name + ".effc", {});
  }
  // The same name, as a step's file in a folder of its own has.
  fs::create_directory(folder.at("step"));
  fs::rename(folder.at("b.gguf"), folder.at("step/a.gguf"));
  compile("step/a.gguf", "b.effc", {});
  rebind("a.effc", "step/a.gguf", "bound.effc");
  EXPECT_TRUE(isSame("bound.effc", "b.effc"));
}

// A state belongs to the weights that it was made by.
TEST_F(Rebind, StatesOfOtherWeightsAreRefused) {
  copyCheckpoint("mamba2/f32_plain");
  compile("a", "a.effc", {});
  compile("b", "b.effc", {});
  rebind("a.effc", "b", "bound.effc");
  auto save = [&](const std::string &file) {
    return effc({"run", folder.at(file), "--tokens", "3,1,4", "-n", "0",
                 "--print-tokens", "--save-state", folder.at("state")});
  };
  auto load = [&](const std::string &file) {
    return effc({"run", folder.at(file), "--load-state", folder.at("state"),
                 "--tokens", "5", "-n", "4", "--print-tokens"});
  };
  ASSERT_EQ(save("a.effc").status, 0);
  Finished done = load("bound.effc");
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("the state is of another model: the weights it "
                          "belongs to are not those of this one"),
            std::string::npos)
      << done.err;
  // That of the same weights goes on, however they came into the file.
  ASSERT_EQ(save("b.effc").status, 0);
  done = load("bound.effc");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, load("b.effc").out);
  EXPECT_EQ(load("a.effc").status, 1);
}

// Of files with their weights in the checkpoint's, whose numbers are then replaced in
// their place: the artifact is of no use any more, and gets another one.
TEST_F(Rebind, AfterTheCheckpointIsWrittenOver) {
  copyCheckpoint("layouts/mamba_ssm_f16_padded");
  compile("a", "model.effc", {"--weights", "reference"});
  compile("b", "expected.effc", {"--weights", "reference"});
  fs::copy(folder.at("b/model.safetensors"), folder.at("a/model.safetensors"),
           fs::copy_options::overwrite_existing);
  EXPECT_EQ(effc({"inspect", folder.at("model.effc"), "--check"}).status, 1);
  rebind("model.effc", "b", "bound.effc");
  EXPECT_TRUE(isSame("bound.effc", "expected.effc"));
  rebind("model.effc", "a", "model.effc");
  EXPECT_EQ(effc({"inspect", folder.at("model.effc"), "--check"}).status, 0);
  EXPECT_EQ(inspect("model.effc")["layout_id"],
            inspect("bound.effc")["layout_id"]);
}

// What is not weights stays, and is told of where it differs.
TEST_F(Rebind, TokenizerAndSettingsStay) {
  copyCheckpoint("sample");
  for (const char *name : {"a", "b"})
    std::ofstream(folder.at(name) + "/chat_template.jinja")
        << "{% for message in messages %}{{ message.content }}{% endfor %}";
  compile("a", "a.effc", {});
  compile("b", "b.effc", {});
  // A trainer's folder without them.
  fs::remove(folder.at("b/chat_template.jinja"));
  fs::remove(folder.at("b/tokenizer.json"));
  fs::remove(folder.at("b/generation_config.json"));
  EXPECT_EQ(rebind("a.effc", "b", "bound.effc")["left_aside"], Json::array());
  EXPECT_TRUE(isSame("bound.effc", "b.effc"));
  // One with others.
  std::ofstream(folder.at("b/tokenizer.json")) << "{}";
  std::ofstream(folder.at("b/generation_config.json"))
      << R"({"do_sample": true, "temperature": 0.125})";
  std::ofstream(folder.at("b/tokenizer_config.json")) << "{}";
  std::ofstream(folder.at("b/chat_template.jinja")) << "{{ messages }}";
  EXPECT_EQ(rebind("a.effc", "b", "bound.effc")["left_aside"],
            (Json{"'tokenizer.json' differs from the one that the file was "
                  "compiled with, which stays",
                  "'tokenizer_config.json' is left aside: the file was "
                  "compiled without one",
                  "'chat_template.jinja' differs from the one that the file "
                  "was compiled with, which stays",
                  "'generation_config.json' differs from the one that the file "
                  "was compiled with, which stays"}));
  EXPECT_TRUE(isSame("bound.effc", "b.effc"));
}

// Nor do special tokens change that a configuration alone names.
TEST_F(Rebind, OtherSpecialTokensAreTold) {
  copyCheckpoint("families/llama/llama3_scaling");
  auto name = [&](const std::string &model, int first, int end) {
    fs::remove(folder.at(model + "/generation_config.json"));
    Json config = Json::parse(contents(model + "/config.json"));
    config["bos_token_id"] = first;
    config["eos_token_id"] = end;
    std::ofstream(folder.at(model + "/config.json")) << config;
  };
  name("a", 1, 2);
  compile("a", "a.effc", {});
  name("b", 1, 5);
  EXPECT_EQ(rebind("a.effc", "b", "bound.effc")["left_aside"],
            Json{"the model's end token is 5, the file's is 2, which stays"});
  name("b", 3, 2);
  EXPECT_EQ(rebind("a.effc", "b", "bound.effc")["left_aside"],
            Json{"the model's first token is 3, the file's is 1, which stays"});
}

// What differs is told, and nothing is written.
TEST_F(Rebind, OtherModelsAreRefused) {
  copyCheckpoint("mamba2/f32_plain");
  compile("a", "a.effc", {});
  auto refused = [&](const std::string &model, const std::string &reason) {
    for (const char *output : {"new.effc", "old.effc"}) {
      std::ofstream(folder.at("old.effc")) << "what was there";
      Arguments names = folder.names();
      Finished done =
          effc({"rebind", folder.at("a.effc"), model, "-o", folder.at(output)});
      EXPECT_EQ(done.status, 1);
      EXPECT_EQ(done.out, "");
      EXPECT_NE(done.err.find(reason), std::string::npos) << done.err;
      EXPECT_EQ(folder.names(), names);
      EXPECT_EQ(contents("old.effc"), "what was there");
    }
  };
  refused(EFFC_GOLDENS "/families/jamba/experts",
          "is not the model that the file was compiled from, weights aside: "
          "expects '#seq.model<family = \"mamba2\", vocabulary = 97, width = "
          "24, max_context = 0>', but got '#seq.model<family = \"jamba\"");
  // The same shapes by another rule.
  std::string config = contents("b/config.json");
  auto withConfig = [&](const std::string &from, const std::string &to) {
    std::string changed = config;
    ASSERT_NE(changed.find(from), std::string::npos);
    changed.replace(changed.find(from), from.size(), to);
    std::ofstream(folder.at("b/config.json")) << changed;
  };
  withConfig("\"layer_norm_epsilon\": 1e-05", "\"layer_norm_epsilon\": 1e-03");
  refused(folder.at("b"), "{eps = 1.000000e-05 : f64} : tensor<?x24xf32>, "
                          "tensor<24xf32>', but got '");
  withConfig("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
  refused(folder.at("b"), "tensor 'backbone.layers.1.mixer.A_log' (and 8 more) "
                          "has no place in the model");
  withConfig("\"state_size\": 16", "\"state_size\": 17");
  refused(folder.at("b"), "but got");
  std::ofstream(folder.at("b/config.json")) << config;

  // The last number of the last tensor, which no check before it reads.
  std::string weights = contents("b/model.safetensors");
  weights.replace(weights.size() - 4, 4, "\xff\xff\xff\x7f");
  std::ofstream(folder.at("b/model.safetensors"), std::ios::binary) << weights;
  refused(folder.at("b"), "expects finite numbers, but got NaN");
  fs::remove(folder.at("b/model.safetensors"));
  refused(folder.at("b"), "found no weights");
}

// Sampling and scoring say the same of a token, to the bit.
class RebindScores : public Rebind,
                     public testing::WithParamInterface<const char *> {};

TEST_P(RebindScores, AreThoseOfSampling) {
  copyCheckpoint(GetParam());
  compile("a", "a.effc", {});
  rebind("a.effc", "b", "b.effc");
  std::ofstream(folder.at("prompts.jsonl"))
      << "{\"tokens\": [3, 1, 4, 1, 5]}\n{\"tokens\": [2]}\n{\"tokens\": [9, "
         "2, "
         "6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4]}\n";
  Json said[2];
  for (const char *file : {"a.effc", "b.effc"}) {
    Finished done = effc({"sample", folder.at(file), "--prompts",
                          folder.at("prompts.jsonl"), "--samples", "5", "-n",
                          "21", "--temp", "1.5", "--seed", "7", "--logprobs"});
    ASSERT_EQ(done.status, 0) << done.err;
    std::ofstream requests(folder.at("requests.jsonl"));
    std::vector<Json> sampled;
    std::stringstream lines(done.out);
    size_t tokens = 0;
    for (std::string line; std::getline(lines, line);) {
      Json prompt = Json::parse(line), continuations;
      for (const Json &sample : prompt["samples"]) {
        if (sample["tokens"].empty()) // the model ended it at once
          continue;
        continuations.push_back(sample["tokens"]);
        sampled.push_back(sample["logprobs"]);
        tokens += sample["tokens"].size();
      }
      requests << Json{{"context", prompt["tokens"]},
                       {"continuations", continuations}}
                      .dump()
               << "\n";
    }
    requests.close();
    EXPECT_GT(tokens, 60u);
    size_t kept = sampled.size();
    done = effc({"eval", folder.at(file), "--requests",
                 folder.at("requests.jsonl"), "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    size_t next = 0;
    Json scores = Json::parse(done.out);
    for (const Json &request : scores["requests"])
      for (const Json &scored : request["continuations"])
        EXPECT_EQ(scored["logprobs"], sampled[next++]);
    EXPECT_EQ(next, kept);
    said[file[0] - 'a'] = sampled;
  }
  EXPECT_NE(said[0], said[1]);
}

INSTANTIATE_TEST_SUITE_P(
    Families, RebindScores,
    testing::Values("mamba2/f32_plain", "mamba2/bf16_tied",
                    "families/jamba/experts", "families/qwen3_next/plain",
                    "families/rwkv7/plain", "families/llama/llama3_scaling",
                    "families/bailing_hybrid/lightning_bf16"),
    [](const testing::TestParamInfo<const char *> &info) {
      std::string name = info.param;
      for (char &c : name)
        c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });
