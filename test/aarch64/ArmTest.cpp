// Code for Arm, from a checkpoint to logits and text: compiled here, run by the
// runtime that was built for Arm, under qemu.
//
// Vectors are as long as those of x86-64-v3, sums have the same order, and products by
// weights in panels are integers. So whole logits have the bits of x86-64-v3, which is
// what these tests ask for beside the goldens.
#include "test/LongCheck.h"
#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc::test;
using nlohmann::json;
using Arguments = std::vector<std::string>;

static constexpr const char *kX86 = "x86-64-v3", *kDot = "aarch64-dotprod",
                            *kMatrix = "aarch64-i8mm";

namespace {
class ArmTest : public testing::Test {
protected:
  void
  compile(const std::string &checkpoint, const Arguments &options,
          const std::string &targets = "host,aarch64-dotprod,aarch64-i8mm") {
    Arguments all = {EFFC_PROGRAM, "compile",     EFFC_GOLDENS + checkpoint,
                     "-o",         model,         "--target",
                     targets,      "--max-batch", "4"};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = runProgram(all);
    ASSERT_EQ(done.status, 0) << done.err;
  }

  /// `effc` of this machine, or on an Arm processor that qemu knows by name.
  static Finished effc(Arguments arguments, const std::string &cpu = "") {
    Arguments all = {EFFC_PROGRAM};
    if (!cpu.empty())
      all = {EFFC_QEMU, "-L", "/usr/aarch64-linux-gnu",
             "-cpu",    cpu,  EFFC_ON_ARM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return runProgram(all);
  }

  /// Writes the logits that the code of a level gives to a file of its name.
  void evaluate(const std::string &isa, const std::string &tokens,
                const Arguments &options = {}) {
    Arguments all = {"eval",     model,  "--device", "host:" + isa,
                     "--tokens", tokens, "--logits", folder.at(isa)};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = effc(all, isa == kX86 ? "" : "max");
    ASSERT_EQ(done.status, 0) << done.err;
  }

  void expectBitsOfX86(const std::string &isa) {
    Finished done =
        runProgram({EFFC_COMPARE, "--bits", folder.at(kX86), folder.at(isa)});
    EXPECT_EQ(done.status, 0) << isa << ": " << done.out << done.err;
  }

  TemporaryFolder folder;
  std::string model = folder.at("model.effc");
};

/// A recorded checkpoint, "llama/llama3_scaling".
class ArmGoldens : public ArmTest,
                   public testing::WithParamInterface<std::string> {};
/// A kind of weights, and of products.
class ArmWeights
    : public ArmTest,
      public testing::WithParamInterface<std::pair<std::string, std::string>> {
};

std::string nameOf(std::string text) {
  for (char &c : text)
    c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return text;
}
} // namespace

// However the tokens are fed.
TEST_P(ArmGoldens, AreMetWithTheBitsOfX86) {
  std::string checkpoint = EFFC_GOLDENS "/families/" + GetParam() + "/";
  Arguments how = {"--dtype", "f32", "--prefill-rows", "8,32"};
  // How the case is to be compiled, where that is not as it is.
  if (std::ifstream file(checkpoint + "options.json"); file) {
    json others = json::parse(file);
    for (const auto &[name, value] : others.items())
      how.insert(how.end(), {"--" + name, value.dump()});
  }
  compile("/families/" + GetParam(), how, "host,aarch64-dotprod");
  evaluate(kX86, checkpoint + "tokens.json");
  for (const Arguments &options :
       {Arguments{}, Arguments{"--split", "1", "--batch", "3"},
        Arguments{"--split", "3,11", "--threads", "3"}}) {
    evaluate(kDot, checkpoint + "tokens.json", options);
    expectBitsOfX86(kDot);
  }
  Finished done = runProgram(
      {EFFC_COMPARE, folder.at(kDot), checkpoint + "golden.safetensors"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

// Attention with a mixture of experts and without, states that decay by a gate, SSD, a
// delta rule, and exponentials of a running maximum; in `tools/check --long` all cases
// of all families.
static std::vector<std::string> cases() {
  if (!isLongCheck())
    return {
        "llama/llama3_scaling", "qwen3_moe/plain",      "gla/plain",
        "mamba2/plain",         "gated_deltanet/plain", "xlstm/fused_biases"};
  std::vector<std::string> names;
  std::filesystem::path root = EFFC_GOLDENS "/families";
  for (const auto &family : std::filesystem::directory_iterator(root))
    if (family.is_directory())
      for (const auto &entry : std::filesystem::directory_iterator(family))
        if (entry.is_directory())
          names.push_back(
              std::filesystem::relative(entry.path(), root).string());
  std::sort(names.begin(), names.end());
  return names;
}
INSTANTIATE_TEST_SUITE_P(Families, ArmGoldens, testing::ValuesIn(cases()),
                         [](const auto &info) { return nameOf(info.param); });
// An empty list would run no test and say nothing.
TEST(ArmCases, AreThere) { EXPECT_GE(cases().size(), 6u); }

// A model of width 256, in blocks of every kind: rows of one and of several, by sdot
// and by smmla.
TEST_P(ArmWeights, GiveTheBitsOfX86) {
  const auto &[type, products] = GetParam();
  compile("/sample", {"--weights-type", type, "--products", products,
                      "--prefill-rows", "16"});
  std::string tokens = folder.at("tokens.json");
  std::ofstream(tokens) << "[[1,5,900,77,1200,3,44,1999,2,8,640],[31,512]]";
  evaluate(kX86, tokens);
  for (const char *isa : {kDot, kMatrix})
    for (const Arguments &options :
         {Arguments{}, Arguments{"--split", "1", "--batch", "2"}}) {
      evaluate(isa, tokens, options);
      expectBitsOfX86(isa);
    }
}

// The kernels of every kind are the business of StoredKernelsTests. Here are codes with
// a minimum, rows of one digit, blocks in blocks and weights without blocks; in
// `tools/check --long` all kinds.
static std::vector<std::pair<std::string, std::string>> kinds() {
  std::vector<std::pair<std::string, std::string>> some = {{"q5_1", "exact"},
                                                           {"q8_0", "int8"},
                                                           {"q4_k", "exact"},
                                                           {"bf16", "exact"}};
  if (isLongCheck())
    some.insert(some.end(), {{"q4_0", "exact"},
                             {"q8_0", "exact"},
                             {"q8_0", "int16"},
                             {"q2_k", "exact"},
                             {"q3_k", "exact"},
                             {"q6_k", "exact"},
                             {"iq4_nl", "exact"},
                             {"mxfp4", "exact"}});
  return some;
}

INSTANTIATE_TEST_SUITE_P(Kinds, ArmWeights, testing::ValuesIn(kinds()),
                         [](const auto &info) {
                           return info.param.first + "_" + info.param.second;
                         });

TEST_F(ArmTest, TheSampleContinuesAsTheLibraryDoes) {
  compile("/sample", {"--prefill-rows", "16"}, kDot);
  json expected =
      json::parse(std::ifstream(EFFC_GOLDENS "/sample/expected.json"));
  Finished done = effc({"run", model, "--prompt", expected["prompt"], "-n",
                        std::to_string(expected["continuation_ids"].size())},
                       "neoverse-n1");
  EXPECT_EQ(done.out, expected["continuation"].get<std::string>() + "\n")
      << done.err;
}

// A sequence that was begun on one architecture goes on with the other.
TEST_F(ArmTest, AStateMovesBetweenArchitectures) {
  compile("/sample", {"--prefill-rows", "16"});
  auto run = [&](const std::string &cpu, const Arguments &options) {
    Arguments all = {"run", model, "--print-tokens", "-n", "7"};
    all.insert(all.end(), options.begin(), options.end());
    if (cpu.empty())
      all.insert(all.end(), {"--device", std::string("host:") + kX86});
    Finished done = effc(all, cpu);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.out;
  };
  std::string state = folder.at("state");
  run("", {"--tokens", "449,341,297", "--save-state", state});
  std::string there = run("max", {"--load-state", state, "--tokens", "14"});
  EXPECT_EQ(there, run("", {"--load-state", state, "--tokens", "14"}));
  EXPECT_NE(there, "");
}

// One file for all machines; each takes what it can run, and says what it lacks.
TEST_F(ArmTest, AFileHoldsCodeOfBothArchitectures) {
  compile("/mamba2/f32_plain", {"--prefill-rows", "8"});
  json targets =
      json::parse(effc({"inspect", model, "--json"}).out)["segments"];
  std::vector<std::string> isas;
  for (const json &segment : targets)
    if (segment.at("kind") == "host_code")
      isas.push_back(segment.at("isa"));
  EXPECT_EQ(isas, (std::vector<std::string>{kX86, kDot, kMatrix}));

  auto outcome = [&](const std::string &cpu, const Arguments &options = {}) {
    Arguments all = {"run", model, "--tokens",      "1,2",
                     "-n",  "1",   "--print-tokens"};
    all.insert(all.end(), options.begin(), options.end());
    Finished done = effc(all, cpu);
    return done.status == 0 ? "" : done.err;
  };
  EXPECT_EQ(outcome(""), "");
  EXPECT_EQ(outcome("max"), "");
  EXPECT_EQ(outcome("max", {"--device", "host:aarch64-dotprod"}), "");
  EXPECT_EQ(outcome("neoverse-n1"), "");
  EXPECT_NE(outcome("neoverse-n1", {"--device", "host:aarch64-i8mm"})
                .find("'isa' is aarch64-i8mm, but this machine lacks i8mm"),
            std::string::npos);
  EXPECT_NE(outcome("cortex-a72")
                .find("the file's code does not run here (x86-64-v3: not an "
                      "ISA of this machine; aarch64-dotprod: this machine "
                      "lacks asimddp; aarch64-i8mm: this machine lacks "
                      "asimddp, i8mm)"),
            std::string::npos);
}

TEST_F(ArmTest, CodeForArmAloneIsRefusedElsewhere) {
  compile("/mamba2/f32_plain", {"--prefill-rows", "8"}, kMatrix);
  Finished done =
      effc({"run", model, "--tokens", "1,2", "-n", "1", "--print-tokens"});
  EXPECT_NE(done.status, 0);
  EXPECT_NE(done.err.find("the file's code does not run here (aarch64-i8mm: "
                          "not an ISA of this machine); this machine runs "),
            std::string::npos)
      << done.err;
}
