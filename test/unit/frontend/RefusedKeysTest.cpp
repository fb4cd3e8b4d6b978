// What importers of single families refuse: values of keys with which a model
// would be another one than they build. Each starts from a recorded
// configuration.
#include "test/unit/frontend/ConfigImport.h"

#include <fstream>

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

class RefusedKeys : public ConfigImport {
protected:
  RefusedKeys() : ConfigImport(json()) {}

  void read(const std::string &golden) {
    std::ifstream file(EFFC_GOLDENS "/families/" + golden + "/config.json");
    config = json::parse(file);
    EXPECT_EQ(import(), "success");
  }

  /// Expects `config`, with another value of a key, to be refused by `message`.
  void expectRefused(const char *key, const json &value,
                     const std::string &message) {
    json before = config;
    config[key] = value;
    EXPECT_EQ(import(), "config.json: " + message);
    config = before;
  }
};

} // namespace

TEST_F(RefusedKeys, Bamba) {
  read("bamba/plain");
  // Heads have 24/3 = 8 channels, of which half turn.
  expectRefused("attn_rotary_emb", 8,
                "expects 'attn_rotary_emb' to be 4, but got 8");
}

TEST_F(RefusedKeys, LogLinearMamba2) {
  read("log_linear_mamba2/plain");
  expectRefused("attnres_block_size", 2,
                "expects 'attnres_block_size' to be null, but got 2");
  expectRefused("dt_limit", json::array({0.1, 0.9}),
                "expects no bounds in 'dt_limit', as the public library does, "
                "but got some");
}

TEST_F(RefusedKeys, Zamba) {
  read("zamba/four_heads_untied");
  expectRefused("attention_head_dim", 5,
                "expects 'attention_head_dim' to be 10, which follows from "
                "other keys, but got 5");
  expectRefused("n_mamba_heads", 3,
                "expects 'mamba_expand' * 'hidden_size' 40 to be a multiple of "
                "'n_mamba_heads', but got 3");
}

TEST_F(RefusedKeys, Zaya) {
  read("zaya/windows_biases_bf16");
  expectRefused("num_experts_per_tok", 2,
                "expects 'num_experts_per_tok' to be 1, but got 2");
  expectRefused("sliding_window", nullptr,
                "lacks 'sliding_window', which layers that are "
                "'hybrid_sliding' need");
}

TEST_F(RefusedKeys, DeepSeekV2) {
  read("deepseek_v2/groups_yarn_bf16");
  expectRefused("norm_topk_prob", true,
                "expects 'norm_topk_prob' to be false, but got true");
  expectRefused("scoring_func", "sigmoid",
                "expects 'scoring_func' to be softmax, but got \"sigmoid\"");
  expectRefused("topk_method", "noaux_tc",
                "expects 'topk_method' to be greedy or group_limited_greedy, "
                "but got \"noaux_tc\"");
}

TEST_F(RefusedKeys, DeepSeekV3) {
  read("deepseek_v3/released_bf16");
  expectRefused("scoring_func", "softmax",
                "expects 'scoring_func' to be sigmoid, but got \"softmax\"");
  expectRefused("topk_method", "greedy",
                "expects 'topk_method' to be noaux_tc, but got \"greedy\"");
}

TEST_F(RefusedKeys, Qrwkv6) {
  read("rwkv6qwen2/later_keys_bf16");
  expectRefused("use_rope", true,
                "expects 'use_rope' to be false, but got true");
  expectRefused("groupnorm_att", true,
                "expects 'groupnorm_att' to be false, but got true");
  expectRefused("balance_state", false,
                "expects 'balance_state' to be true, but got false");
  expectRefused("use_tokenshift", false,
                "expects 'use_tokenshift' to be true, but got false");
  expectRefused("head_dim", 4,
                "expects 'num_attention_heads' heads to share 'hidden_size' "
                "24, but got 12 channels");
}

TEST_F(RefusedKeys, Arwkv) {
  read("rwkv_hybrid/plain");
  expectRefused("wkv_layers", json::array({0}),
                "expects 'wkv_layers' to be a string, but got an array of 1");
  expectRefused("wkv_layers", "odd",
                "expects 'wkv_layers' to be full, but got \"odd\"");
  expectRefused("head_size", 3,
                "expects 'hidden_size' to be a multiple of 'head_size' 3, but "
                "got 8");
}

TEST_F(RefusedKeys, LinearTransformer) {
  read("xmixers/plain");
  expectRefused("bias", true, "expects 'bias' to be false, but got true");
  expectRefused("kv_heads", 1, "expects 'kv_heads' to be 2, but got 1");
  expectRefused("use_dense_memory", true,
                "expects 'use_dense_memory' to be false, but got true");
  expectRefused("norm_type", "layernorm",
                "expects 'norm_type' to be rmsnorm, but got \"layernorm\"");
  expectRefused("linear_activation", "softmax_1",
                "linear_activation 'softmax_1' is not supported; supported: "
                "silu, swish, sigmoid, relu, relu2, gelu, none");
  // Heads of 18 / 3 = 6 channels have no half of their 3 pairs.
  config["embed_dim"] = 18;
  config["num_heads"] = 3;
  expectRefused("lrpe_type", 3,
                "expects heads of a multiple of 4 channels for their "
                "positions, but got 6");
}

TEST_F(RefusedKeys, DecayLinearTransformer) {
  read("xmixers_decay/plain");
  expectRefused("decay_type", "lightnet",
                "expects 'decay_type' to be hgrn2 or gla or mamba_no_a or "
                "mamba_no_a_no_t or hgrn3, but got \"lightnet\"");
  expectRefused("share_decay", true,
                "expects 'use_lower_bound' to be true beside 'share_decay', "
                "but got false");
  config["decay_type"] = "mamba_no_a";
  expectRefused("share_decay", true,
                "expects 'share_decay' to be false where 'decay_type' is "
                "mamba_no_a, but got true");
  expectRefused("use_lower_bound", true,
                "expects 'use_lower_bound' to be false where 'decay_type' is "
                "not hgrn2, but got true");
}

// Two layers, of which the second sees all keys.
TEST_F(RefusedKeys, Gemma4) {
  read("gemma4/text_alike_heads");
  expectRefused("per_layer_config", {{"0", {{"head_dim", 8}}}},
                "expects 'per_layer_config' to name layers of full_attention "
                "alone, but got 1 others; keys that were not asked for so far: "
                "'rope_parameters', 'sliding_window'");
  expectRefused("per_layer_config", {{"1", 8}},
                "expects 'per_layer_config' to have an object '1'; keys that "
                "were not asked for so far: 'rope_parameters', "
                "'sliding_window'");
  config["layer_types"] = {"full_attention", "full_attention"};
  expectRefused(
      "per_layer_config", {{"0", {{"head_dim", 8}}}},
      "expects the heads of all layers of full_attention in "
      "'per_layer_config' to be alike, but got others in '1'; keys that "
      "were not asked for so far: 'rope_parameters', "
      "'sliding_window'");
}

TEST_F(RefusedKeys, Olmo3) {
  read("olmo3/saved_keys_beside");
  EXPECT_EQ(llvm::count(remarks,
                        "config.json: rope_parameters: 'factor' is ignored: "
                        "each kind of layers has an object"),
            1);
  config["rope_parameters"].erase("sliding_attention");
  config["rope_parameters"].erase("rope_theta");
  config["rope_parameters"].erase("rope_type");
  EXPECT_EQ(import(), "config.json: expects 'rope_parameters' to have objects "
                      "'full_attention' and 'sliding_attention' alone, but got "
                      "'factor'");
}
