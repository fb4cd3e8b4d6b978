// Whole models in the layouts of quantised checkpoints (write_quantised.py), from the
// folder to logits: as dense f32 they give the bits of a folder that has the numbers
// themselves, and as blocks they verify.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {

struct Model {
  const char *family, *layout;
  const char *storage;   ///< of most parameters
  bool hasPanels = true; ///< which the host multiplies as integers
};

class QuantisedFiles {
protected:
  /// Writes both folders.
  void write(const char *family, const char *layout) {
    Finished done =
        runProgram({"/usr/bin/env", "python3", EFFC_WRITE_QUANTISED, family,
                    layout, folder.at("quantised"), folder.at("dense")});
    ASSERT_EQ(done.status, 0) << done.err;
  }

  /// What compiling a folder says. Without `isStrict` a fallback is no error.
  std::string compile(const std::string &from, const std::string &to,
                      const Arguments &options = {}, bool isStrict = true) {
    Arguments all = {EFFC_PROGRAM,   "compile",        folder.at(from),
                     "-o",           folder.at(to),    "--target",
                     "host",         "--no-tokenizer", "--prefill-rows",
                     "16",           "--max-batch",    "2",
                     "--no-optimise"};
    all.insert(all.end(), options.begin(), options.end());
    if (isStrict)
      all.insert(all.end(), {"--werror", "fallback"});
    Finished done = runProgram(all);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.out + done.err;
  }

  void verify(const std::string &compiled) {
    Finished done = runProgram(
        {EFFC_PROGRAM, "verify", folder.at(compiled), "--tokens", "12"});
    EXPECT_EQ(done.status, 0) << done.out << done.err;
  }

  void evaluate(const std::string &compiled) {
    Finished done = runProgram({EFFC_PROGRAM, "eval", folder.at(compiled),
                                "--tokens", folder.at("tokens.json"),
                                "--logits", folder.at(compiled + ".logits")});
    ASSERT_EQ(done.status, 0) << done.err;
  }

  TemporaryFolder folder;
};

class QuantisedTest : public QuantisedFiles,
                      public testing::TestWithParam<Model> {};
class RoundedTest : public QuantisedFiles,
                    public testing::TestWithParam<const char *> {};

TEST_P(QuantisedTest, IsTheModelOfItsNumbers) {
  write(GetParam().family, GetParam().layout);
  std::ofstream(folder.at("tokens.json"))
      << "[[3, 14, 15, 9, 26, 53, 58, 9, 7, 9, 32, 38], [66, 0, 2]]";
  std::string said = compile("quantised", "m", {}, GetParam().hasPanels);
  EXPECT_EQ(said.find(std::string("the host unpacks weights in ") +
                      GetParam().storage) == std::string::npos,
            GetParam().hasPanels)
      << said;
  // Of most elements; of those of these small models f32 is no small part.
  EXPECT_NE(
      said.find(std::string(" parameters, ") + GetParam().storage + " and "),
      std::string::npos)
      << said;
  verify("m");
  compile("quantised", "widened", {"--weights-type", "f32"});
  compile("dense", "expected");
  evaluate("widened");
  evaluate("expected");
  Finished done =
      runProgram({EFFC_COMPARE, "--bits", folder.at("widened.logits"),
                  folder.at("expected.logits")});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

INSTANTIATE_TEST_SUITE_P(
    Models, QuantisedTest,
    testing::Values(Model{"llama", "int4_zeros", "int4z_32_bf16"},
                    Model{"qwen3", "awq", "int4z_32_f16"},
                    Model{"qwen3_moe", "fp8", "e4m3_32_f32", false},
                    // One scale for each row of 512, in blocks of 256.
                    Model{"qwen3_wide", "int8", "int8_256_bf16"},
                    Model{"qwen3_wide", "gptq8", "int8z_256_f16"},
                    Model{"mamba2", "int8", "int8_64_bf16"}),
    [](const auto &info) {
      return std::string(info.param.family) + "_" + info.param.layout;
    });

// Numbers that are rounded to blocks of 512, whose panels have 16 rows of each: 8,224
// and 4,128 bytes.
TEST_P(RoundedTest, LoadsAndVerifies) {
  write("qwen3_wide", "int8");
  std::string said = compile("dense", "m", {"--weights-type", GetParam()});
  EXPECT_NE(said.find(std::string(" parameters, ") + GetParam() + " and "),
            std::string::npos)
      << said;
  verify("m");
}

INSTANTIATE_TEST_SUITE_P(Blocks, RoundedTest,
                         testing::Values("int8_512_f16", "int4_512_f16"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
