// conversion/rwkv.py, kimi_linear.py, minimax.py and qwen.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

//===----------------------------------------------------------------------===//
// RWKV
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kRwkvKeys[] = {
    // No layer has positions, and no head a number.
    {"context_length", "", Kind::Known},
    {"attention.head_count", "", Kind::Known},
    {"attention.layer_norm_epsilon", "norm_eps", Kind::Number},
    {"feed_forward_length", "intermediate_size"},
};
static constexpr GgufKeyRow kRwkv6Keys[] = {
    {"time_mix_extra_dim", "proj_low_rank_dim"},
    {"time_decay_extra_dim", "gate_low_rank_dim"},
};
static constexpr GgufKeyRow kRwkv7Keys[] = {
    {"wkv.head_size", "head_dim"},
    {"attention.decay_lora_rank", "decay_low_rank_dim"},
    {"attention.iclr_lora_rank", "a_low_rank_dim"},
    {"attention.value_residual_mix_lora_rank", "v_low_rank_dim"},
    {"attention.gate_lora_rank", "gate_low_rank_dim"},
};

static constexpr GgufTensorRow kOfRwkv[] = {
    {"token_embd", "model.embeddings"},
    {"token_embd_norm", "model.layers.0.pre_norm"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "model.layers.*.attn_norm"},
    {"blk.*.attn_norm_2", "model.layers.*.ffn_norm"},
    {"blk.*.time_mix_ln", "model.layers.*.attn.g_norm"},
    {"blk.*.time_mix_output", "model.layers.*.attn.o_proj"},
    {"blk.*.channel_mix_value", "model.layers.*.ffn.value"},
};
static constexpr GgufTensorRow kOfRwkv6[] = {
    {"blk.*.time_mix_lerp_x.weight", "model.layers.*.attn.x_proj.0.mu"},
    {"blk.*.time_mix_w1", "model.layers.*.attn.x_proj.0.linear"},
    {"blk.*.time_mix_w2", "model.layers.*.attn.x_proj.2.{w|k|v|r|g}"},
    {"blk.*.time_mix_lerp_fused.weight",
     "model.layers.*.attn.x_bias.{w|k|v|r|g}"},
    {"blk.*.time_mix_receptance", "model.layers.*.attn.r_proj.linear"},
    {"blk.*.time_mix_key", "model.layers.*.attn.k_proj.linear"},
    {"blk.*.time_mix_value", "model.layers.*.attn.v_proj.linear"},
    {"blk.*.time_mix_gate", "model.layers.*.attn.g_proj.linear"},
    {"blk.*.time_mix_decay_w1", "model.layers.*.attn.w_proj.linear.lora.0"},
    {"blk.*.time_mix_decay_w2", "model.layers.*.attn.w_proj.linear.lora.2"},
    {"blk.*.time_mix_decay.weight",
     "model.layers.*.attn.w_proj.linear.lora.2.bias"},
    {"blk.*.time_mix_first.weight", "model.layers.*.attn.bonus",
     GgufRule::FlatHeads},
    {"blk.*.channel_mix_lerp_k.weight", "model.layers.*.ffn.key.mu"},
    {"blk.*.channel_mix_lerp_r.weight", "model.layers.*.ffn.receptance.mu"},
    {"blk.*.channel_mix_key", "model.layers.*.ffn.key.linear"},
    {"blk.*.channel_mix_receptance", "model.layers.*.ffn.receptance.linear"},
};
static constexpr GgufTensorRow kOfRwkv7[] = {
    {"blk.*.time_mix_lerp_fused.weight", "model.layers.*.attn.x_{r|w|k|v|a|g}"},
    {"blk.*.time_mix_receptance", "model.layers.*.attn.r_proj"},
    {"blk.*.time_mix_key", "model.layers.*.attn.k_proj"},
    {"blk.*.time_mix_value", "model.layers.*.attn.v_proj"},
    {"blk.*.time_mix_k_k.weight", "model.layers.*.attn.k_k"},
    {"blk.*.time_mix_k_a.weight", "model.layers.*.attn.k_a"},
    {"blk.*.time_mix_r_k.weight", "model.layers.*.attn.r_k",
     GgufRule::FlatHeads},
    {"blk.*.time_mix_w0.weight", "model.layers.*.attn.w_lora.lora.2.bias"},
    {"blk.*.time_mix_w1", "model.layers.*.attn.w_lora.lora.0"},
    {"blk.*.time_mix_w2", "model.layers.*.attn.w_lora.lora.2"},
    {"blk.*.time_mix_a0.weight", "model.layers.*.attn.a_lora.lora.2.bias"},
    {"blk.*.time_mix_a1", "model.layers.*.attn.a_lora.lora.0"},
    {"blk.*.time_mix_a2", "model.layers.*.attn.a_lora.lora.2"},
    // The first layer's values are what others move to.
    {"blk.0.time_mix_v0", "", GgufRule::Unused},
    {"blk.0.time_mix_v1", "", GgufRule::Unused},
    {"blk.0.time_mix_v2", "", GgufRule::Unused},
    {"blk.*.time_mix_v0.weight", "model.layers.*.attn.v_lora.lora.2.bias"},
    {"blk.*.time_mix_v1", "model.layers.*.attn.v_lora.lora.0"},
    {"blk.*.time_mix_v2", "model.layers.*.attn.v_lora.lora.2"},
    {"blk.*.time_mix_g1", "model.layers.*.attn.g_lora.lora.0"},
    {"blk.*.time_mix_g2", "model.layers.*.attn.g_lora.lora.2"},
    {"blk.*.channel_mix_lerp_k.weight", "model.layers.*.ffn.x_k"},
    {"blk.*.channel_mix_key", "model.layers.*.ffn.key"},
};

/// What the format's own library computes for both: the norm of each head has an
/// epsilon of its own.
static void describeRwkv(GgufConfig &config) {
  config.getForm().headNormEpsilon = 64e-5;
  config.setBoolean("norm_first", true, "token_embd_norm.weight");
}

static void describeRwkv6(GgufConfig &config) {
  describeRwkv(config);
  GgufMetadata &keys = config.getKeys();
  std::string sizeKey = config.keyOf("wkv.head_size");
  if (!keys.has(sizeKey))
    keys.report("lacks key " + quote(sizeKey));
  if (config.getWidth() % config.getHeadWidth() != 0)
    keys.report("expects " + quote(sizeKey) + " to divide the width " +
                llvm::Twine(config.getWidth()) + ", but got " +
                llvm::Twine(config.getHeadWidth()));
  config.setInteger(
      "num_heads",
      std::max<int64_t>(config.getWidth() / config.getHeadWidth(), 1), sizeKey);
  config.setNumber("expand_k", 1, sizeKey);
  config.setNumber("expand_v", 1, sizeKey);
  config.getForm().halvedEvery =
      keys.getInteger(config.keyOf("rescale_every_n_layers"), 0, 1024)
          .value_or(0);
}

/// Keys get the length 1 by their length, not by a root of its square and an
/// epsilon.
static void describeRwkv7(GgufConfig &config) {
  describeRwkv(config);
  config.setBoolean("fuse_norm", false, config.keyOf("wkv.head_size"));
}

//===----------------------------------------------------------------------===//
// Kimi Linear
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kKimiKeys[] = {
    {"context_length", "model_max_length"},
    {"feed_forward_length", "intermediate_size", Kind::SameInEachLayer},
    {"attention.head_count", "num_attention_heads", Kind::SameInEachLayer},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::Number},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"attention.value_length_mla", "v_head_dim"},
    {"rope.dimension_count", "qk_rope_head_dim"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_token"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_count", "num_shared_experts"},
    {"expert_weights_scale", "routed_scaling_factor", Kind::Number},
    {"expert_weights_norm", "moe_renormalize", Kind::Boolean},
    {"expert_group_count", "num_expert_group"},
    {"expert_group_used_count", "topk_group"},
    {"leading_dense_block_count", "first_k_dense_replace"},
    // Nothing is turned; widths follow from the ranks.
    {"rope.freq_base", "", Kind::Known},
    {"attention.key_length", "", Kind::Known},
    {"attention.value_length", "", Kind::Known},
};

static constexpr GgufTensorRow kOfKimi[] = {
    {"blk.*.ssm_conv1d_q", "model.layers.*.self_attn.q_conv1d"},
    {"blk.*.ssm_conv1d_k", "model.layers.*.self_attn.k_conv1d"},
    {"blk.*.ssm_conv1d_v", "model.layers.*.self_attn.v_conv1d"},
    {"blk.*.ssm_f_a", "model.layers.*.self_attn.f_a_proj"},
    {"blk.*.ssm_f_b", "model.layers.*.self_attn.f_b_proj"},
    {"blk.*.ssm_g_a", "model.layers.*.self_attn.g_a_proj"},
    {"blk.*.ssm_g_b", "model.layers.*.self_attn.g_b_proj"},
    {"blk.*.ssm_beta", "model.layers.*.self_attn.b_proj"},
    {"blk.*.ssm_norm", "model.layers.*.self_attn.o_norm"},
    {"blk.*.ssm_dt.bias", "model.layers.*.self_attn.dt_bias"},
    {"blk.*.ssm_a", "model.layers.*.self_attn.A_log",
     GgufRule::NegatedExponential},
    {"blk.*.ffn_gate_inp", "model.layers.*.block_sparse_moe.gate"},
    {"blk.*.exp_probs_b.bias",
     "model.layers.*.block_sparse_moe.gate.e_score_correction_bias"},
    {"blk.*.ffn_gate_exps", "model.layers.*.block_sparse_moe.experts.#.w1"},
    {"blk.*.ffn_up_exps", "model.layers.*.block_sparse_moe.experts.#.w3"},
    {"blk.*.ffn_down_exps", "model.layers.*.block_sparse_moe.experts.#.w2"},
    {"blk.*.ffn_gate_shexp",
     "model.layers.*.block_sparse_moe.shared_experts.gate_proj"},
    {"blk.*.ffn_up_shexp",
     "model.layers.*.block_sparse_moe.shared_experts.up_proj"},
    {"blk.*.ffn_down_shexp",
     "model.layers.*.block_sparse_moe.shared_experts.down_proj"},
};

/// Which layers are of the delta rule: those without heads of keys. Their heads
/// have no key of their own, but a rate of decay each.
static void describeKimi(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string bothKey = config.keyOf("attention.key_length_mla"),
              turnedKey = config.keyOf("rope.dimension_count"),
              kindsKey = config.keyOf("attention.head_count_kv"),
              scoreKey = config.keyOf("expert_gating_func");
  int64_t both = keys.requireInteger(bothKey, 1, int64_t(1) << 20),
          turned = keys.requireInteger(turnedKey, 1, int64_t(1) << 20);
  if (!keys.hasProblem() && turned >= both)
    keys.report("expects " + quote(turnedKey) + " below " + quote(bothKey) +
                " " + llvm::Twine(both) + ", but got " + llvm::Twine(turned));
  config.setInteger("qk_nope_head_dim", both - turned, bothKey);
  if (auto score = keys.getInteger(scoreKey, 0, 255)) {
    if (*score != 1 && *score != 2)
      keys.report("expects " + quote(scoreKey) +
                  " to be 1 (softmax) or 2 (sigmoid), but got " +
                  llvm::Twine(*score));
    config.setText("moe_router_activation_func",
                   *score == 1 ? "softmax" : "sigmoid", scoreKey);
  }
  config.setBoolean("mla_use_nope", true, turnedKey);
  std::vector<llvm::StringRef> kinds;
  for (int64_t layer = 0; layer < config.getLayers(); ++layer)
    kinds.push_back(
        config.getModel().find(
            ("blk." + llvm::Twine(layer) + ".ffn_gate_inp.weight").str())
            ? "sparse"
            : "dense");
  config.setTexts("mlp_layer_types", kinds, "blk.*.ffn_gate_inp.weight");

  GgufConfig linear = config.startInner();
  linear.copy({"ssm.conv_kernel", "short_conv_kernel_size"});
  linear.copy({"kda.head_dim", "head_dim"});
  std::vector<int64_t> delta, attends;
  int64_t heads = config.getHeads();
  for (const auto &[layer, keyHeads] : llvm::enumerate(config.getKeyHeads())) {
    (keyHeads == 0 ? delta : attends).push_back(int64_t(layer) + 1);
    if (const TensorEntry *rates = config.getModel().find(
            ("blk." + llvm::Twine(layer) + ".ssm_a").str())) {
      heads = 1;
      for (uint64_t extent : rates->shape)
        heads *= int64_t(extent);
    }
  }
  linear.setInteger("num_heads", heads, config.keyOf("attention.head_count"));
  linear.setIntegers("kda_layers", delta, kindsKey);
  linear.setIntegers("full_attn_layers", attends, kindsKey);
  config.setObject("linear_attn_config", std::move(linear));
}

//===----------------------------------------------------------------------===//
// MiniMax-01
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kMiniMaxKeys[] = {
    {"rope.dimension_count", "rotary_dim"},
    {"expert_count", "num_local_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    // What the tensors say.
    {"attention.recurrent_layers", "", Kind::Known},
    {"full_attention_interval", "", Kind::Known},
};
static constexpr GgufTensorRow kOfMiniMax[] = {
    {"blk.*.attn_qkv", "model.layers.*.self_attn.qkv_proj"},
    {"blk.*.attn_gate", "model.layers.*.self_attn.output_gate"},
    {"blk.*.attn_norm_2", "model.layers.*.self_attn.norm"},
    {"blk.*.attn_output", "model.layers.*.self_attn.out_proj", GgufRule::None,
     "blk.*.attn_qkv.weight"},
    {"blk.*.ffn_gate_inp", "model.layers.*.block_sparse_moe.gate"},
    {"blk.*.ffn_gate_exps", "model.layers.*.block_sparse_moe.experts.#.w1"},
    {"blk.*.ffn_up_exps", "model.layers.*.block_sparse_moe.experts.#.w3"},
    {"blk.*.ffn_down_exps", "model.layers.*.block_sparse_moe.experts.#.w2"},
};

/// Layers of lightning attention have one tensor of queries, keys and values. The
/// token's share in each sum is one number, what a layer makes of it counts
/// whole, and the residual is the normalised token.
static void describeMiniMax(GgufConfig &config) {
  describeHeads(config);
  config.copy({"rope.freq_base", "rope_theta", Kind::Number});
  std::vector<int64_t> kinds;
  for (int64_t layer = 0; layer < config.getLayers(); ++layer)
    kinds.push_back(
        config.getModel().find(
            ("blk." + llvm::Twine(layer) + ".attn_qkv.weight").str())
            ? 0
            : 1);
  config.setIntegers("attn_type_list", kinds, "blk.*.attn_qkv.weight");
  for (llvm::StringRef field :
       {"layernorm_full_attention_alpha", "layernorm_linear_attention_alpha",
        "layernorm_mlp_alpha"})
    if (auto share =
            config.getKeys().getNumber(config.keyOf("residual_scale"), 0, 1e6))
      config.setNumber(field, *share, config.keyOf("residual_scale"));
  config.setBoolean("postnorm", true, config.keyOf("residual_scale"));
}

//===----------------------------------------------------------------------===//
// Qwen3-Next, Qwen3.5
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kNextKeys[] = {
    {"ssm.conv_kernel", "linear_conv_kernel_dim"},
    {"ssm.state_size", "linear_key_head_dim"},
    {"ssm.group_count", "linear_num_key_heads"},
    {"ssm.time_step_rank", "linear_num_value_heads"},
    {"full_attention_interval", "full_attention_interval"},
};
static constexpr GgufKeyRow kQwen35Keys[] = {
    // How the axes of a picture's positions share the pairs.
    {"rope.dimension_sections", "", Kind::Known},
    // The family knows.
    {"expert_weights_norm", "", Kind::Known},
};
static constexpr GgufTensorRow kOfNext[] = {
    {"blk.*.attn_qkv", "model.layers.*.linear_attn.in_proj_qkv"},
    {"blk.*.attn_gate", "model.layers.*.linear_attn.in_proj_z"},
    // Older files have both as the family's own checkpoints.
    {"blk.*.ssm_in", "model.layers.*.linear_attn.in_proj_qkvz"},
    {"blk.*.ssm_ba", "model.layers.*.linear_attn.in_proj_ba"},
    {"blk.*.ssm_beta", "model.layers.*.linear_attn.in_proj_b"},
    {"blk.*.ssm_alpha", "model.layers.*.linear_attn.in_proj_a"},
    {"blk.*.ssm_conv1d", "model.layers.*.linear_attn.conv1d"},
    {"blk.*.ssm_dt.bias", "model.layers.*.linear_attn.dt_bias"},
    {"blk.*.ssm_a", "model.layers.*.linear_attn.A_log",
     GgufRule::NegatedExponential},
    {"blk.*.ssm_norm", "model.layers.*.linear_attn.norm"},
    {"blk.*.ssm_out", "model.layers.*.linear_attn.out_proj"},
    {"blk.*.post_attention_norm", "model.layers.*.post_attention_layernorm"},
};

/// All but experts.
static void describeGatedDelta(GgufConfig &config) {
  describeHeads(config);
  describeRotary(config);
  // All turn where the file says so: the family's default is a quarter.
  GgufMetadata &keys = config.getKeys();
  std::string turnedKey = config.keyOf("rope.dimension_count");
  if (auto turned = keys.getInteger(turnedKey, 1, int64_t(1) << 20))
    config.setNumber("partial_rotary_factor",
                     double(*turned) / double(config.getHeadWidth()),
                     turnedKey);
  config.setInteger("linear_value_head_dim", readStateSpaceHead(config),
                    config.keyOf("ssm.inner_size"));
  std::string kindsKey = config.keyOf("attention.recurrent_layers");
  if (auto recurrent = keys.getBooleans(
          kindsKey, uint64_t(config.getLayers() + config.getFurtherLayers()))) {
    std::vector<llvm::StringRef> kinds;
    for (int64_t layer = 0; layer < config.getLayers(); ++layer)
      kinds.push_back((*recurrent)[size_t(layer)] ? "linear_attention"
                                                  : "full_attention");
    config.setTexts("layer_types", kinds, kindsKey);
  }
}

static void describeNext(GgufConfig &config) {
  describeGatedDelta(config);
  config.setBoolean("norm_topk_prob", true,
                    config.keyOf("expert_weights_norm"));
  config.copy({"expert_weights_norm", "norm_topk_prob", Kind::Boolean});
  describeDenseLayers(config);
}

/// The converter put heads of values in turn.
static void describeQwen35(GgufConfig &config) {
  describeGatedDelta(config);
  config.getForm().tiledValues = true;
}

//===----------------------------------------------------------------------===//

static constexpr llvm::ArrayRef<GgufKeyRow>
    kKeysOfRwkv6[] = {kRwkvKeys, kRwkv6Keys},
    kKeysOfRwkv7[] = {kRwkvKeys, kRwkv7Keys}, kKeysOfKimi[] = {kKimiKeys},
    kKeysOfMiniMax[] = {kDecoderKeys, kMiniMaxKeys},
    kKeysOfNext[] = {kDecoderKeys, kExpertKeys, kNextKeys},
    kKeysOf35[] = {kDecoderKeys, kNextKeys, kQwen35Keys},
    kKeysOf35Moe[] = {kDecoderKeys, kExpertKeys, kNextKeys, kQwen35Keys};
static constexpr llvm::ArrayRef<GgufTensorRow>
    kTensorsOfRwkv6[] = {kOfRwkv, kOfRwkv6},
    kTensorsOfRwkv7[] = {kOfRwkv, kOfRwkv7},
    kTensorsOfKimi[] = {kOuterTensors, kAttentionTensors, kLatentTensors,
                        kMlpTensors,   kTwoNorms,         kOfKimi},
    kTensorsOfMiniMax[] = {kOuterTensors, kOfMiniMax, kAttentionTensors,
                           kTwoNorms},
    kTensorsOfNext[] = {kOuterTensors,  kOfNext,     kAttentionTensors,
                        kExpertTensors, kMlpTensors, kTwoNorms};

static constexpr GgufArchitecture kArchitectures[] = {
    {"kimi-linear", "kimi_linear", kKeysOfKimi, kTensorsOfKimi, describeKimi},
    {"minimax-01", "minimax_text_01", kKeysOfMiniMax, kTensorsOfMiniMax,
     describeMiniMax},
    {"qwen35", "qwen3_5_text", kKeysOf35, kTensorsOfNext, describeQwen35,
     /*wholeNorms=*/true, /*otherColumns=*/"blk.*.ssm_out"},
    {"qwen35moe", "qwen3_5_moe_text", kKeysOf35Moe, kTensorsOfNext,
     describeQwen35, /*wholeNorms=*/true, /*otherColumns=*/"blk.*.ssm_out"},
    {"qwen3next", "qwen3_next", kKeysOfNext, kTensorsOfNext, describeNext,
     /*wholeNorms=*/true},
    {"rwkv6", "rwkv6", kKeysOfRwkv6, kTensorsOfRwkv6, describeRwkv6},
    {"rwkv7", "rwkv7", kKeysOfRwkv7, kTensorsOfRwkv7, describeRwkv7},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kRecurrentArchitectures =
    kArchitectures;
