// Kimi Linear shares its layers out by two lists that count from 1, and refuses
// by name what other models have under its name.
#include "test/unit/frontend/ConfigImport.h"

#include "llvm/Support/raw_ostream.h"

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

/// Four layers of width 20, of which the third attends.
class KimiLinearTest : public ConfigImport {
protected:
  KimiLinearTest()
      : ConfigImport({{"model_type", "kimi_linear"},
                      {"architectures", {"KimiLinearForCausalLM"}},
                      {"vocab_size", 61},
                      {"hidden_size", 20},
                      {"intermediate_size", 44},
                      {"num_hidden_layers", 4},
                      {"model_max_length", 64},
                      {"num_attention_heads", 3},
                      {"qk_nope_head_dim", 5},
                      {"qk_rope_head_dim", 4},
                      {"v_head_dim", 7},
                      {"kv_lora_rank", 8},
                      {"mla_use_nope", true},
                      {"num_experts", 6},
                      {"num_experts_per_token", 2},
                      {"moe_intermediate_size", 11},
                      {"first_k_dense_replace", 1},
                      {"linear_attn_config",
                       {{"num_heads", 2},
                        {"head_dim", 9},
                        {"short_conv_kernel_size", 4},
                        {"kda_layers", {1, 2, 4}},
                        {"full_attn_layers", {3}}}}}) {}

  /// What importing comes to with another value for a key.

  std::string importWithLayers(const json &delta, const json &full) {
    json lists = config["linear_attn_config"];
    lists["kda_layers"] = delta;
    lists["full_attn_layers"] = full;
    return importWith("linear_attn_config", lists);
  }
};

constexpr const char *kLists = "config.json: linear_attn_config: ";

} // namespace

TEST_F(KimiLinearTest, SharesLayersOut) {
  EXPECT_EQ(import(), "success");
  EXPECT_EQ(importWithLayers({1, 2, 3}, {3, 4}),
            std::string(kLists) +
                "expects each layer in one of 'kda_layers' and "
                "'full_attn_layers', but got layer 3 in both");
  EXPECT_EQ(importWithLayers({1, 2}, {3}),
            std::string(kLists) +
                "expects each layer in one of 'kda_layers' and "
                "'full_attn_layers', but got layer 4 in neither");
  EXPECT_EQ(importWithLayers({0, 1, 3}, {2}),
            std::string(kLists) +
                "expects 'kda_layers' to be layers from 1 to 4, but got 0");
  EXPECT_EQ(importWithLayers({1, 2, 3}, {5}),
            std::string(kLists) + "expects 'full_attn_layers' to be layers "
                                  "from 1 to 4, but got 5");
  EXPECT_EQ(importWithLayers({1, 2, 3}, 4),
            std::string(kLists) +
                "expects 'full_attn_layers' to be an array of layers, but got "
                "4");
  EXPECT_EQ(importWith("linear_attn_config", nullptr), "success");
}

TEST_F(KimiLinearTest, RefusesWhatItDoesNotHave) {
  EXPECT_EQ(importWith("mla_use_nope", false),
            "config.json: expects 'mla_use_nope' to be true, but got false");
  EXPECT_EQ(importWith("topk_group", 3),
            "config.json: expects 'topk_group' up to 'num_expert_group' 1, but "
            "got 3");
  EXPECT_EQ(importWith("num_experts_per_token", 7),
            "config.json: expects 'num_experts_per_token' up to 'num_experts' "
            "6, but got 7");
  EXPECT_EQ(importWith("num_nextn_predict_layers", 1),
            "config.json: expects 'num_nextn_predict_layers' to be 0, but got "
            "1");
  EXPECT_EQ(importWith("mla_use_output_gate", true),
            "config.json: expects no 'mla_use_output_gate' beside the parts "
            "that Kimi Linear has, but got true");
  EXPECT_EQ(importWith("mla_use_output_gate", false), "success");
  json bounded = config["linear_attn_config"];
  bounded["gate_lower_bound"] = -5.0;
  EXPECT_EQ(importWith("linear_attn_config", bounded),
            std::string(kLists) +
                "expects no 'gate_lower_bound' in a layout without bounded "
                "gates, but got -5.0");
  EXPECT_EQ(importWith("hidden_act", "situ"),
            "config.json: hidden_act 'situ' is not supported; supported: silu, "
            "swish, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, relu, relu2, "
            "sigmoid");
}

// The hub's code and the public library have other defaults, and other weights of
// an expert that is taken alone.
TEST_F(KimiLinearTest, AbsentKeysAreThoseOfWhoeverWroteIt) {
  auto text = [&] {
    EXPECT_EQ(import(), "success");
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  };
  auto expectDefault = [&](const char *key, const json &value) {
    config[key] = value;
    std::string said = text();
    config.erase(key);
    EXPECT_EQ(text(), said) << key;
  };
  expectDefault("num_shared_experts", 0);
  expectDefault("routed_scaling_factor", 1.0);
  expectDefault("rms_norm_eps", 1e-6);
  config["num_experts_per_token"] = 1;
  EXPECT_NE(text().find("weighting<score>"), std::string::npos);
  config["layer_types"] = {"linear_attention", "linear_attention",
                           "full_attention", "linear_attention"};
  EXPECT_NE(text().find("weighting<share>"), std::string::npos);
  expectDefault("num_shared_experts", 1);
  expectDefault("routed_scaling_factor", 2.446);
  expectDefault("rms_norm_eps", 1e-5);
}

// Without experts, and with all of a layer's, which the router still weighs.
// Six experts, of which a token takes two.
TEST_F(KimiLinearTest, HasExpertsInGroups) {
  EXPECT_EQ(importWith("num_expert_group", 2), "success");
  EXPECT_EQ(importWith("num_expert_group", nullptr), "success");
  for (int groups : {4, 6})
    EXPECT_EQ(importWith("num_expert_group", groups),
              "config.json: expects 'num_expert_group' to share the experts "
              "evenly, two or more in each, but got " +
                  std::to_string(groups) + " for 6");
  config["num_experts_per_token"] = 4;
  EXPECT_EQ(importWith("num_expert_group", 2),
            "config.json: expects a token to take its experts from "
            "'topk_group' groups, but got 4 of 1 * 3");
}

TEST_F(KimiLinearTest, HasExpertsOrNone) {
  EXPECT_EQ(importWith("num_experts", nullptr), "success");
  EXPECT_EQ(importWith("num_experts_per_token", 6), "success");
  EXPECT_EQ(importWith("num_shared_experts", 0), "success");
}
