// Whole models in the layouts of quantised checkpoints (write_quantised.py), from the
// folder to logits: as dense f32 they give the bits of a folder that has the numbers
// themselves, and as blocks they verify.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <fstream>
#include <gtest/gtest.h>
#include <regex>

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

/// The number before "parameters" in what compiling says; empty where there is none.
std::string parametersIn(const std::string &said) {
  std::smatch match;
  std::regex_search(said, match, std::regex("([0-9,]+) parameters"));
  EXPECT_FALSE(match.empty()) << said;
  return match.str(1);
}

class QuantisedTest : public QuantisedFiles,
                      public testing::TestWithParam<Model> {};
class OrderedTest : public QuantisedFiles,
                    public testing::TestWithParam<Model> {};
class OrderedExpertsTest : public QuantisedFiles, public testing::Test {};
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

// Inputs of one group lie apart from each other: products read blocks whose columns lie
// group by group, and rows come into that order once for all that read them. The numbers
// are those of the dense folder, as far as another order of additions lets them be.
TEST_P(OrderedTest, HasBlocksAndItsInputsInOrder) {
  write(GetParam().family, GetParam().layout);
  std::ofstream(folder.at("tokens.json"))
      << "[[3, 14, 15, 9, 26, 53, 58, 9, 7, 9, 32, 38], [66, 0, 2]]";
  std::string said = compile("quantised", "m", {"--remarks", "-"});
  std::string storage = GetParam().storage;
  EXPECT_NE(said.find(" quantised matrices are read as " + storage +
                      ", number for number, and what they are multiplied by "
                      "comes in an order of activations ('desc_act')"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find(" parameters, " + storage + " and "), std::string::npos)
      << said;
  verify("m");
  // An order of channels is no parameter of the model.
  EXPECT_EQ(parametersIn(said), parametersIn(compile("dense", "expected")));
  evaluate("m");
  evaluate("expected");
  Finished near =
      runProgram({EFFC_COMPARE, "--near", "1e-5", folder.at("m.logits"),
                  folder.at("expected.logits")});
  EXPECT_EQ(near.status, 0) << near.out << near.err;
  // Who chooses a type has f32 rounded to it, column by column.
  compile("quantised", "widened", {"--weights-type", "f32"});
  evaluate("widened");
  Finished same =
      runProgram({EFFC_COMPARE, "--bits", folder.at("widened.logits"),
                  folder.at("expected.logits")});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
}

INSTANTIATE_TEST_SUITE_P(
    Models, OrderedTest,
    testing::Values(Model{"llama", "gptq4_ordered", "int4z_32_f16"},
                    Model{"mamba2", "gptq4_ordered", "int4z_32_f16"},
                    Model{"qwen3", "int4_ordered", "int4_32_bf16"}),
    [](const auto &info) {
      return std::string(info.param.family) + "_" + info.param.layout;
    });

// Experts are joined to one weight, and each has an order of its own.
TEST_F(OrderedExpertsTest, StayF32WithARemark) {
  write("qwen3_moe", "gptq4_ordered");
  std::string said =
      compile("quantised", "m", {"--remarks", "-"}, /*isStrict=*/false);
  EXPECT_NE(said.find("fallback: 20 quantised matrices are read as f32, number "
                      "for number: groups of inputs in an order of activations "
                      "('desc_act') have no blocks where several tensors are "
                      "joined to one, as experts are; --weights-type gives "
                      "them fewer bits"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("8 quantised matrices are read as int4z_32_f16"),
            std::string::npos)
      << said;
  verify("m");
}

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
