// The classes MiniMaxM2Model of conversion/minimax.py and Glm4MoeModel of conversion/glm.py,
// and conversion/bailingmoe.py and bailingmoe3.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

/// The width of heads, which the families take from no other number, and what
/// turns.
static void describeTurnedHeads(GgufConfig &config) {
  describeHeads(config);
  config.setInteger("head_dim", config.getHeadWidth(),
                    config.keyOf("attention.key_length"));
  describeRotary(config);
}

/// Both have sigmoids, whose key says 2.
static void expectSigmoids(GgufConfig &config) {
  config.getKeys().getInteger(config.keyOf("expert_gating_func"), 2, 2);
}

//===----------------------------------------------------------------------===//
// MiniMax M2
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kMiniMaxKeys[] = {
    {"expert_count", "num_local_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    // What `feed_forward_length` says.
    {"expert_feed_forward_length", "intermediate_size"},
};
// Norms of queries and keys are of all heads together.
static constexpr GgufTensorRow kMiniMaxTensors[] = {
    {"blk.*.ffn_gate_inp", "model.layers.*.block_sparse_moe.gate"},
    {"blk.*.exp_probs_b.bias",
     "model.layers.*.block_sparse_moe.e_score_correction_bias"},
    {"blk.*.ffn_gate_exps", "model.layers.*.block_sparse_moe.experts.#.w1"},
    {"blk.*.ffn_up_exps", "model.layers.*.block_sparse_moe.experts.#.w3"},
    {"blk.*.ffn_down_exps", "model.layers.*.block_sparse_moe.experts.#.w2"},
};

static void describeMiniMaxM2(GgufConfig &config) {
  describeTurnedHeads(config);
  expectSigmoids(config);
}

//===----------------------------------------------------------------------===//
// Ling 2, Ring 2, and Sarvam, whose numbers for choosing experts the converter has
// moved to a mean of 0
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kBailingKeys[] = {
    {"leading_dense_block_count", "first_k_dense_replace"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_count", "num_shared_experts"},
    {"expert_weights_norm", "norm_topk_prob", Kind::Boolean},
    {"expert_weights_scale", "routed_scaling_factor", Kind::Number},
    {"expert_group_count", "n_group"},
    {"expert_group_used_count", "topk_group"},
    // What the tensors say.
    {"expert_shared_feed_forward_length", "", Kind::Known},
};
static constexpr GgufTensorRow kBailingTensors[] = {
    {"token_embd", "model.word_embeddings"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"blk.*.attn_qkv", "model.layers.*.attention.query_key_value"},
    {"blk.*.attn_q_norm", "model.layers.*.attention.query_layernorm"},
    {"blk.*.attn_k_norm", "model.layers.*.attention.key_layernorm"},
    {"blk.*.attn_output", "model.layers.*.attention.dense"},
    {"blk.*.ffn_gate_inp", "model.layers.*.mlp.gate"},
    {"blk.*.exp_probs_b.bias", "model.layers.*.mlp.gate.expert_bias"},
    {"blk.*.ffn_gate_exps", "model.layers.*.mlp.experts.#.gate_proj"},
    {"blk.*.ffn_up_exps", "model.layers.*.mlp.experts.#.up_proj"},
    {"blk.*.ffn_down_exps", "model.layers.*.mlp.experts.#.down_proj"},
    {"blk.*.ffn_gate_shexp", "model.layers.*.mlp.shared_experts.gate_proj"},
    {"blk.*.ffn_up_shexp", "model.layers.*.mlp.shared_experts.up_proj"},
    {"blk.*.ffn_down_shexp", "model.layers.*.mlp.shared_experts.down_proj"},
};

static void describeBailingExperts(GgufConfig &config) {
  expectSigmoids(config);
  // As the format's own library has it without the keys.
  if (!config.has("leading_dense_block_count"))
    config.setInteger("first_k_dense_replace", 0,
                      config.keyOf("leading_dense_block_count"));
  if (!config.has("expert_weights_norm"))
    config.setBoolean("norm_topk_prob", false,
                      config.keyOf("expert_weights_norm"));
  if (!config.has("expert_weights_scale"))
    config.setNumber("routed_scaling_factor", 1,
                     config.keyOf("expert_weights_scale"));
}

static void describeBailingMoe2(GgufConfig &config) {
  describeTurnedHeads(config);
  describeBailingExperts(config);
  describeBias(config, "use_qk_norm", "attn_q_norm.weight");
  describeBias(config, "use_qkv_bias", "attn_qkv.bias");
  describeBias(config, "use_bias", "attn_output.bias");
}

//===----------------------------------------------------------------------===//
// GLM-4.5 to 4.7, of which the public library makes Sarvam
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kGlmKeys[] = {
    // How the axes of a picture's positions share the pairs.
    {"rope.dimension_sections", "", Kind::Known},
};
static constexpr GgufTensorRow kGlmTensors[] = {
    {"blk.*.attn_q", "model.layers.*.attention.q_proj"},
    {"blk.*.attn_k", "model.layers.*.attention.k_proj"},
    {"blk.*.attn_v", "model.layers.*.attention.v_proj"},
    {"blk.*.post_attention_norm", "model.layers.*.post_attention_layernorm"},
};

static void describeGlm4Moe(GgufConfig &config) {
  describeTurnedHeads(config);
  describeBailingExperts(config);
  describeBias(config, "use_qk_norm", "attn_q_norm.weight");
  describeBias(config, "use_qkv_bias", "attn_q.bias");
  describeBias(config, "use_bias", "attn_output.bias");
}

//===----------------------------------------------------------------------===//
// Ling 3: layers of Kimi's delta rule, and of latent attention with gates
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kBailing3Keys[] = {
    {"context_length", "max_position_embeddings"},
    {"feed_forward_length", "intermediate_size", Kind::SameInEachLayer},
    {"attention.head_count", "num_attention_heads", Kind::SameInEachLayer},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::Number},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"attention.value_length_mla", "v_head_dim"},
    {"rope.dimension_count", "qk_rope_head_dim"},
    {"ssm.conv_kernel", "short_conv_kernel_size"},
    {"kda.head_dim", "head_dim"},
    {"kda.safe_gate", "kda_safe_gate", Kind::Boolean},
    {"kda.gate_lower_bound", "kda_lower_bound", Kind::Number},
    // Of the compressed row, as the rank says.
    {"attention.key_length", "", Kind::Known},
    {"attention.value_length", "", Kind::Known},
};
static constexpr GgufTensorRow kBailing3Tensors[] = {
    {"blk.*.attn_q_a_norm", "model.layers.*.attention.q_a_layernorm"},
    {"blk.*.attn_q_a", "model.layers.*.attention.q_a_proj"},
    {"blk.*.attn_q_b", "model.layers.*.attention.q_b_proj"},
    {"blk.*.attn_kv_a_mqa", "model.layers.*.attention.kv_a_proj_with_mqa"},
    {"blk.*.attn_kv_a_norm", "model.layers.*.attention.kv_a_layernorm"},
    {"blk.*.attn_k_b", "model.layers.*.attention.k_b_proj"},
    {"blk.*.attn_v_b", "model.layers.*.attention.v_b_proj"},
    {"blk.*.attn_gate", "model.layers.*.attention.g_proj"},
    {"blk.*.attn_q", "model.layers.*.attention.q_proj"},
    {"blk.*.attn_k", "model.layers.*.attention.k_proj"},
    {"blk.*.attn_v", "model.layers.*.attention.v_proj"},
    {"blk.*.ssm_conv1d_q", "model.layers.*.attention.q_conv1d"},
    {"blk.*.ssm_conv1d_k", "model.layers.*.attention.k_conv1d"},
    {"blk.*.ssm_conv1d_v", "model.layers.*.attention.v_conv1d"},
    {"blk.*.ssm_f_a", "model.layers.*.attention.f_proj"},
    {"blk.*.ssm_g_a", "model.layers.*.attention.g_proj"},
    {"blk.*.ssm_beta", "model.layers.*.attention.b_proj"},
    {"blk.*.ssm_norm", "model.layers.*.attention.o_norm"},
    {"blk.*.ssm_dt.bias", "model.layers.*.attention.dt_bias"},
    {"blk.*.ssm_a", "model.layers.*.attention.A_log", GgufRule::Exponential},
};

/// Bounds of gates in experts, 0 where there are none.
static void expectNoBounds(GgufConfig &config, llvm::StringRef name) {
  std::string key = config.keyOf(name);
  auto bounds = config.getKeys().getNumbers(key);
  if (bounds && llvm::any_of(*bounds, [](double bound) { return bound != 0; }))
    config.getKeys().report("expects " + quote(key) +
                            " to be 0 for each layer: experts with bounds are "
                            "not read");
}

/// Layers without heads of keys are of the delta rule.
static void describeBailingMoe3(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string bothKey = config.keyOf("attention.key_length_mla"),
              turnedKey = config.keyOf("rope.dimension_count");
  int64_t both = keys.requireInteger(bothKey, 1, int64_t(1) << 20),
          turned = keys.requireInteger(turnedKey, 1, int64_t(1) << 20);
  if (!keys.hasProblem() && turned >= both)
    keys.report("expects " + quote(turnedKey) + " below " + quote(bothKey) +
                " " + llvm::Twine(both) + ", but got " + llvm::Twine(turned));
  config.setInteger("qk_nope_head_dim", both - turned, bothKey);
  describeRotary(config, {.channels = turned});
  describeBailingExperts(config);
  for (llvm::StringRef key : {"swiglu_clamp_exp", "swiglu_clamp_shexp"})
    expectNoBounds(config, key);
  std::vector<llvm::StringRef> kinds;
  for (int64_t heads : config.getKeyHeads())
    kinds.push_back(heads > 0 ? "full_attention" : "linear_attention");
  config.setTexts("layer_types", kinds,
                  config.keyOf("attention.head_count_kv"));
}

//===----------------------------------------------------------------------===//

static constexpr llvm::ArrayRef<GgufKeyRow>
    kKeysOfMiniMax[] = {kDecoderKeys, kMiniMaxKeys},
    kKeysOfBailing[] = {kDecoderKeys, kBailingKeys},
    kKeysOfGlm[] = {kDecoderKeys, kBailingKeys, kGlmKeys},
    kKeysOfBailing3[] = {kBailing3Keys, kBailingKeys};
static constexpr llvm::ArrayRef<GgufTensorRow>
    kOfMiniMax[] = {kOuterTensors, kAttentionTensors, kTwoNorms,
                    kMiniMaxTensors},
    kOfBailing[] = {kBailingTensors, kMlpTensors, kTwoNorms},
    kOfGlm[] = {kGlmTensors, kBailingTensors, kMlpTensors, kTwoNorms},
    kOfBailing3[] = {kBailing3Tensors, kBailingTensors, kMlpTensors, kTwoNorms};

static constexpr GgufArchitecture kArchitectures[] = {
    {"bailingmoe2", "bailing_moe", kKeysOfBailing, kOfBailing,
     describeBailingMoe2},
    {"bailingmoe3", "bailing_hybrid", kKeysOfBailing3, kOfBailing3,
     describeBailingMoe3},
    {"glm4moe", "sarvam_moe", kKeysOfGlm, kOfGlm, describeGlm4Moe},
    {"minimax-m2", "minimax_m2", kKeysOfMiniMax, kOfMiniMax, describeMiniMaxM2},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kExpertArchitectures =
    kArchitectures;
