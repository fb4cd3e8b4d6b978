// conversion/deepseek.py and the class Glm4MoeLiteModel of conversion/glm.py, and
// src/models/deepseek2.cpp of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

static constexpr GgufKeyRow kOfDeepSeek[] = {
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"rope.dimension_count", "qk_rope_head_dim"},
    {"leading_dense_block_count", "first_k_dense_replace"},
    {"expert_count", "n_routed_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_count", "n_shared_experts"},
    {"expert_weights_norm", "norm_topk_prob", Kind::Boolean},
    {"expert_weights_scale", "routed_scaling_factor", Kind::Number},
};

// Channels that turn lie in pairs of neighbours, as in the family's checkpoints.
static constexpr GgufTensorRow kTensorsOfDeepSeek[] = {
    {"blk.*.ffn_gate_inp", "model.layers.*.mlp.gate"},
    {"blk.*.exp_probs_b.bias",
     "model.layers.*.mlp.gate.e_score_correction_bias"},
    {"blk.*.ffn_gate_exps", "model.layers.*.mlp.experts.#.gate_proj"},
    {"blk.*.ffn_up_exps", "model.layers.*.mlp.experts.#.up_proj"},
    {"blk.*.ffn_down_exps", "model.layers.*.mlp.experts.#.down_proj"},
    {"blk.*.ffn_gate_shexp", "model.layers.*.mlp.shared_experts.gate_proj"},
    {"blk.*.ffn_up_shexp", "model.layers.*.mlp.shared_experts.up_proj"},
    {"blk.*.ffn_down_shexp", "model.layers.*.mlp.shared_experts.down_proj"},
};

/// The key is a tenth of `mscale_all_dim`; the format's own library takes the same
/// for `mscale`, which no key says.
static void describeDeepSeekYarn(GgufConfig &config, GgufConfig &scaling) {
  GgufMetadata &keys = config.getKeys();
  std::string key = config.keyOf("rope.scaling.yarn_log_multiplier"),
              shareKey = config.keyOf("rope.scaling.attn_factor");
  auto tenth = keys.getNumber(key, 0, 1e3);
  if (!tenth || *tenth == 0)
    return;
  if (keys.has(shareKey))
    keys.report("expects no " + quote(shareKey) + " beside " + quote(key));
  scaling.setNumber("mscale", *tenth * 10, key);
  scaling.setNumber("mscale_all_dim", *tenth * 10, key);
}

/// Of files that have keys and values apart the lengths of both are those of the
/// compressed row, and heads have keys of their own.
static void describeLatentHeads(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  constexpr int64_t kMost = int64_t(1) << 20;
  constexpr llvm::StringLiteral kKey = "attention.key_length",
                                kValue = "attention.value_length";
  bool isApart = config.has("attention.key_length_mla");
  std::string keyKey = config.keyOf(kKey), valueKey = config.keyOf(kValue),
              turnedKey = config.keyOf("rope.dimension_count");
  if (isApart) {
    keys.ignore({keyKey, valueKey});
    keyKey += "_mla";
    valueKey += "_mla";
  }
  int64_t both = keys.requireInteger(keyKey, 1, kMost),
          turned = keys.requireInteger(turnedKey, 1, kMost);
  if (!keys.hasProblem() && turned >= both)
    keys.report("expects " + quote(turnedKey) + " below " + quote(keyKey) +
                " " + llvm::Twine(both) + ", but got " + llvm::Twine(turned));
  config.setInteger("qk_nope_head_dim", both - turned, keyKey);
  config.setInteger("v_head_dim", keys.requireInteger(valueKey, 1, kMost),
                    valueKey);
  describeRotary(config,
                 {.channels = turned, .describeYarn = describeDeepSeekYarn});
}

/// Whether scores are sigmoids. Files of the first release of the converter, and
/// of GLM-4.7-Flash, do not say it: V3 has numbers that balance its experts.
static bool isSigmoid(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string key = config.keyOf("expert_gating_func");
  auto score = keys.getInteger(key, 0, 255);
  if (!score || *score == 0)
    return anyLayerHas(config, "exp_probs_b.bias");
  if (*score != 1 && *score != 2)
    keys.report("expects " + quote(key) +
                " to be 1 (softmax) or 2 (sigmoid), but got " +
                llvm::Twine(*score));
  return *score == 2;
}

/// Groups of experts. V2's count by their best expert, as the public library has it;
/// the format's own takes the sum of the two best.
static void describeGroups(GgufConfig &config, bool isV3) {
  GgufMetadata &keys = config.getKeys();
  constexpr int64_t kMost = int64_t(1) << 14;
  std::string countKey = config.keyOf("expert_group_count"),
              takenKey = config.keyOf("expert_group_used_count");
  int64_t count = keys.getInteger(countKey, 0, kMost).value_or(1), taken = 1;
  if (count > 1)
    taken = keys.requireInteger(takenKey, 1, kMost);
  else
    keys.ignore({takenKey});
  if (!isV3)
    config.setText("topk_method", count > 1 ? "group_limited_greedy" : "greedy",
                   countKey);
  if (!isV3 && count <= 1)
    return;
  config.setInteger("n_group", std::max<int64_t>(count, 1), countKey);
  config.setInteger("topk_group", taken, takenKey);
}

static void describeDeepSeek2(GgufConfig &config) {
  std::string countKey = config.keyOf("expert_count");
  if (config.getKeys().getInteger(countKey, 0, int64_t(1) << 14).value_or(0) ==
      0)
    config.getKeys().report("expects " + quote(countKey) +
                            " to be 1 or more: a model of this architecture "
                            "without experts is not read");
  describeLatentHeads(config);
  bool isV3 = isSigmoid(config);
  config.setText("model_type", isV3 ? "deepseek_v3" : "deepseek_v2",
                 config.keyOf("expert_gating_func"));
  describeGroups(config, isV3);
  // What stands where the file has no key; the family has defaults of its own.
  auto otherwise = [&](const GgufKeyRow &row, JsonValue value) {
    if (!config.has(row.key))
      config.set(row.field, std::move(value), config.keyOf(row.key));
  };
  otherwise({"expert_weights_norm", "norm_topk_prob"},
            JsonValue(JsonValue::Storage(false)));
  otherwise({"expert_weights_scale", "routed_scaling_factor"}, JsonValue(1.0));
  otherwise({"leading_dense_block_count", "first_k_dense_replace"},
            JsonValue(JsonValue::Storage(uint64_t(0))));
  if (isV3)
    config.setInteger("num_nextn_predict_layers", 0,
                      config.keyOf("nextn_predict_layers"));
  describeBias(config, "attention_bias", "attn_kv_a_mqa.bias");
}

static constexpr llvm::ArrayRef<GgufKeyRow> kKeys[] = {kDecoderKeys,
                                                       kOfDeepSeek};
static constexpr llvm::ArrayRef<GgufTensorRow> kTensors[] = {
    kOuterTensors, kAttentionTensors, kLatentTensors,
    kMlpTensors,   kTwoNorms,         kTensorsOfDeepSeek};

static constexpr GgufArchitecture kArchitectures[] = {
    {"deepseek2", "deepseek_v3", kKeys, kTensors, describeDeepSeek2},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kDeepSeekArchitectures =
    kArchitectures;
