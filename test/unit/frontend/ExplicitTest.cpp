// The explicit layout refuses by name what it would not use.
#include "frontend/Import.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include <nlohmann/json.hpp>

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

class ExplicitTest : public testing::Test {
protected:
  /// What importing a model of this one part comes to, less where the part is.
  std::string import(const json &part, int layers = 1) {
    json config = {{"model_type", "effc"},
                   {"architectures", {"EffcForCausalLM"}},
                   {"vocab_size", 61},
                   {"hidden_size", 24},
                   {"num_hidden_layers", layers},
                   {"max_position_embeddings", 64},
                   {"eos_token_id", 2},
                   {"blocks", {{{"parts", {part}}}}}};
    directory.write("config.json", config.dump());
    ImportOptions options;
    options.weights = WeightsNeeded::ShapesOnly;
    std::string result = outcome(importModel(context, directory.path, options));
    llvm::StringRef text = result;
    text.consume_front("config.json.blocks[0].parts[0]");
    return text.str();
  }

  /// Linear attention, or `part`, with other keys. H V of 2 x 12 is the width.
  std::string importMixer(const json &keys,
                          const char *part = "linear_attention") {
    json mixer = {{"part", part}, {"heads", 2}, {"keys", 4}, {"values", 12}};
    mixer.update(keys);
    return import(mixer);
  }

  mlir::MLIRContext context;
  TemporaryDirectory directory;
};

} // namespace

TEST_F(ExplicitTest, OperandsKeysWithoutEffect) {
  auto importOperand = [&](const json &keys) {
    return importMixer({{"v", keys}});
  };
  EXPECT_EQ(importOperand({{"blocks", true}, {"rank", 3}}),
            ".v: expects no 'rank' where 'blocks' is true, but got 3");
  EXPECT_EQ(importOperand({{"blocks", true}, {"project", false}}),
            ".v: expects 'project' to be true where 'blocks' is true, but got "
            "false");
  EXPECT_EQ(importOperand({{"project", false}, {"rank", 3}}),
            ".v: expects no 'rank' where 'project' is false, but got 3");
  EXPECT_EQ(importOperand({{"project", false}, {"bias", true}}),
            ".v: expects no 'bias' where 'project' is false, but got true");
  EXPECT_EQ(importOperand({{"convolution_bias", true}}),
            ".v: expects no 'convolution_bias' without 'convolution', but got "
            "true");
  // What is the same for every token is made of nothing.
  for (const json &key :
       {json{{"from", "token"}}, json{{"project", true}}, json{{"rank", 3}},
        json{{"bias", true}}, json{{"blocks", true}}, json{{"convolution", 4}},
        json{{"convolution_bias", true}}, json{{"activation", "silu"}},
        json{{"gate", json::object()}}, json{{"unit", json::object()}}}) {
    std::string name = key.begin().key(), found = key.begin()->dump();
    if (key.begin()->is_object())
      found = "an object";
    json value = key, tensor = key;
    value["value"] = 1.5;
    EXPECT_EQ(importOperand(value), ".v: expects no '" + name +
                                        "' where 'value' is given, but got " +
                                        found);
    if (name == "from")
      continue;
    tensor["from"] = "tensor";
    EXPECT_EQ(importOperand(tensor),
              ".v: expects no '" + name +
                  "' where 'from' is \"tensor\", but got " + found);
  }
}

// Null and false ask for nothing.
TEST_F(ExplicitTest, WhatIsNotAskedForIsRight) {
  EXPECT_EQ(importMixer({{"v",
                          {{"project", false},
                           {"rank", nullptr},
                           {"bias", false},
                           {"convolution", nullptr},
                           {"convolution_bias", false}}},
                         {"output",
                          {{"project", false},
                           {"bias", false},
                           {"glu", false},
                           {"gate", nullptr},
                           {"norm", nullptr},
                           {"gate_before_norm", false}}}}),
            "success");
}

TEST_F(ExplicitTest, OutputsKeysWithoutEffect) {
  auto importOutput = [&](const json &keys) {
    return importMixer({{"output", keys}});
  };
  json object = json::object();
  for (const char *key : {"bias", "glu"})
    EXPECT_EQ(importOutput({{"project", false}, {key, true}}),
              std::string(".output: expects no '") + key +
                  "' where 'project' is false, but got true");
  EXPECT_EQ(importOutput({{"groups", 3}}),
            ".output: expects no 'groups' without 'norm', but got 3");
  for (const char *lone : {"gate", "norm"})
    EXPECT_EQ(importOutput({{lone, object}, {"gate_before_norm", true}}),
              ".output: expects no 'gate_before_norm' without 'gate' and "
              "'norm', but got true");
  EXPECT_EQ(importOutput({{"gate", object},
                          {"norm", object},
                          {"gate_before_norm", true},
                          {"groups", 3}}),
            "success");
}

TEST_F(ExplicitTest, AnInnerTokenThatNothingReads) {
  EXPECT_EQ(importMixer({{"inner", {{"width", 10}}}}),
            ": expects a 'from' that is \"inner\" or \"convolved\" where there "
            "is an 'inner' of width 10, but got none");
  json inner = {{"width", 10}, {"convolution", 3}};
  EXPECT_EQ(importMixer({{"inner", inner}, {"q", {{"from", "inner"}}}}),
            ": expects a 'from' that is \"convolved\" where 'inner' has a "
            "convolution of 3 taps, but got none");
  EXPECT_EQ(importMixer({{"inner", {{"width", 10}, {"convolution_bias", true}}},
                         {"q", {{"from", "inner"}}}}),
            ".inner: expects no 'convolution_bias' without 'convolution', but "
            "got true");
  // A gate reads it too.
  EXPECT_EQ(importMixer({{"inner", inner},
                         {"output", {{"gate", {{"from", "convolved"}}}}}}),
            "success");
}

TEST_F(ExplicitTest, ParametersThatNoRuleGives) {
  EXPECT_EQ(importMixer({{"d", {{"rule", "retention"}}}}, "ssd"),
            ".d: expects no 'rule' of a parameter that no rule gives, but got "
            "\"retention\"");
  json both = {{"rule", "retention"}, {"value", -0.5}};
  EXPECT_EQ(importMixer({{"log_decay", both}}, "retention"),
            ".log_decay: expects no 'rule' where 'value' is given, but got "
            "\"retention\"");
  EXPECT_EQ(importMixer({{"log_decay", {{"rule", "retention"}}}}, "retention"),
            "success");
}

// Nothing is left of what is multiplied with 0 or taken to the power 1 / 0.
TEST_F(ExplicitTest, NumbersThatAreNot0) {
  std::string range = "to be a number in 1e-09..1e+09, but got 0";
  EXPECT_EQ(importMixer({{"scale", 0}}), ": expects 'scale' " + range);
  EXPECT_EQ(importMixer({{"scale", 0}}, "attention"),
            ": expects 'scale' " + range);
  EXPECT_EQ(importMixer({{"temperature", 0}}, "gated_retention"),
            ": expects 'temperature' " + range);
  EXPECT_EQ(importMixer({{"eps", 0}}, "normalised_attention"), "success");
}

// Features are of keys: other operands have no heads of K channels.
TEST_F(ExplicitTest, FeaturesOfWhatHasNoKeys) {
  json taylor = {{"activation", "taylor"}};
  std::string refusal =
      ": activation 'taylor' is not supported; supported: identity, silu, "
      "gelu, gelu_tanh, relu, squared_relu, sigmoid, exp, softplus, tanh, "
      "elu_plus_one";
  EXPECT_EQ(importMixer({{"v", taylor}}), ".v" + refusal);
  EXPECT_EQ(importMixer({{"q", {{"gate", taylor}}}}), ".q.gate" + refusal);
  EXPECT_EQ(importMixer({{"beta", taylor}}, "delta_rule"), ".beta" + refusal);
  EXPECT_EQ(importMixer({{"output", taylor}}), ".output" + refusal);
  EXPECT_EQ(importMixer({{"inner", {{"width", 10}, {"activation", "taylor"}}},
                         {"q", {{"from", "inner"}}}}),
            ".inner" + refusal);
}

TEST_F(ExplicitTest, BlocksThatAreNotAsManyAsLayers) {
  json mixer = {
      {"part", "linear_attention"}, {"heads", 2}, {"keys", 4}, {"values", 12}};
  EXPECT_EQ(import(mixer, 1), "success");
  EXPECT_EQ(import(mixer, 3),
            "config.json: expects 'blocks' to give 'num_hidden_layers' 3 "
            "blocks, but got 1 from 1 entry");
}

// Of whatever an operand has for each head.
TEST_F(ExplicitTest, BlocksOfAnyOperand) {
  json blocks = {{"blocks", true}, {"bias", true}};
  EXPECT_EQ(importMixer({{"q", blocks}, {"v", blocks}, {"beta", blocks}},
                        "delta_rule"),
            "success");
  EXPECT_EQ(importMixer({{"heads", 5}, {"q", blocks}}),
            ": expects the heads of 'q' to divide the channels of which it has "
            "blocks, but got 5");
}

// Half of the heads repeat columns, so there are two.
TEST_F(ExplicitTest, DefaultsAreRight) {
  for (const char *kind : {"mixed", "row", "column", "combined"})
    EXPECT_EQ(import({{"part", "srm"}, {"repeat_kind", kind}}), "success")
        << kind;
  EXPECT_EQ(import({{"part", "srm"}}), "success");
}
