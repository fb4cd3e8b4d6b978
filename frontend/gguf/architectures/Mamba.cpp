// conversion/mamba.py and jamba.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

static constexpr GgufKeyRow kStateKeys[] = {
    // No layer has positions; heads and what lies behind a mixer are none.
    {"context_length", "", Kind::Known},
    {"feed_forward_length", "", Kind::Known},
    {"attention.head_count", "", Kind::Known},
    {"attention.head_count_kv", "", Kind::Known},
    {"attention.layer_norm_rms_epsilon", "layer_norm_epsilon", Kind::Number},
    {"ssm.conv_kernel", "conv_kernel"},
    {"ssm.state_size", "state_size"},
    {"ssm.inner_size", "intermediate_size"},
};
static constexpr GgufKeyRow kMambaKeys[] = {
    {"ssm.time_step_rank", "time_step_rank"},
};
static constexpr GgufKeyRow kMamba2Keys[] = {
    {"ssm.time_step_rank", "num_heads"},
    {"ssm.group_count", "n_groups"},
};
static constexpr GgufKeyRow kJambaKeys[] = {
    {"context_length", "max_position_embeddings"},
    {"feed_forward_length", "intermediate_size", Kind::SameInEachLayer},
    {"attention.head_count", "num_attention_heads", Kind::SameInEachLayer},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::Number},
    {"ssm.conv_kernel", "mamba_d_conv"},
    {"ssm.state_size", "mamba_d_state"},
    {"ssm.time_step_rank", "mamba_dt_rank"},
    {"expert_used_count", "num_experts_per_tok"},
};

static constexpr GgufTensorRow kOuter[] = {
    {"token_embd", "backbone.embeddings"},
    {"output_norm", "backbone.norm_f"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "backbone.layers.*.norm"},
    {"blk.*.ssm_in", "backbone.layers.*.mixer.in_proj"},
    {"blk.*.ssm_conv1d", "backbone.layers.*.mixer.conv1d"},
    {"blk.*.ssm_out", "backbone.layers.*.mixer.out_proj"},
    {"blk.*.ssm_a", "backbone.layers.*.mixer.A_log",
     GgufRule::NegatedExponential},
    {"blk.*.ssm_d", "backbone.layers.*.mixer.D"},
};
static constexpr GgufTensorRow kOfMamba[] = {
    {"blk.*.ssm_x", "backbone.layers.*.mixer.x_proj"},
    {"blk.*.ssm_dt", "backbone.layers.*.mixer.dt_proj"},
};
static constexpr GgufTensorRow kOfMamba2[] = {
    {"blk.*.ssm_dt.bias", "backbone.layers.*.mixer.dt_bias"},
    {"blk.*.ssm_norm", "backbone.layers.*.mixer.norm", GgufRule::Unflattened},
};
static constexpr GgufTensorRow kOfJamba[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.final_layernorm"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "model.layers.*.input_layernorm"},
    {"blk.*.ffn_norm", "model.layers.*.pre_ff_layernorm"},
    {"blk.*.ssm_in", "model.layers.*.mamba.in_proj"},
    {"blk.*.ssm_conv1d", "model.layers.*.mamba.conv1d"},
    {"blk.*.ssm_x", "model.layers.*.mamba.x_proj"},
    {"blk.*.ssm_dt", "model.layers.*.mamba.dt_proj"},
    {"blk.*.ssm_out", "model.layers.*.mamba.out_proj"},
    {"blk.*.ssm_a", "model.layers.*.mamba.A_log", GgufRule::NegatedExponential},
    {"blk.*.ssm_d", "model.layers.*.mamba.D"},
    {"blk.*.ssm_dt_norm", "model.layers.*.mamba.dt_layernorm"},
    {"blk.*.ssm_b_norm", "model.layers.*.mamba.b_layernorm"},
    {"blk.*.ssm_c_norm", "model.layers.*.mamba.c_layernorm"},
    {"blk.*.ffn_gate", "model.layers.*.feed_forward.gate_proj"},
    {"blk.*.ffn_up", "model.layers.*.feed_forward.up_proj"},
    {"blk.*.ffn_down", "model.layers.*.feed_forward.down_proj"},
    {"blk.*.ffn_gate_inp", "model.layers.*.feed_forward.router"},
    {"blk.*.ffn_gate_exps", "model.layers.*.feed_forward.experts.#.gate_proj"},
    {"blk.*.ffn_up_exps", "model.layers.*.feed_forward.experts.#.up_proj"},
    {"blk.*.ffn_down_exps", "model.layers.*.feed_forward.experts.#.down_proj"},
};

static void describeBiases(GgufConfig &config) {
  describeBias(config, "use_conv_bias", "ssm_conv1d.bias");
  describeBias(config, "use_bias", "ssm_in.bias");
}

/// Falcon Mamba is told by its norms, whose epsilon no key has.
static void describeMamba(GgufConfig &config) {
  describeBiases(config);
  std::string key = config.keyOf("ssm.dt_b_c_rms");
  if (config.getKeys().getBoolean(key).value_or(false))
    config.setText("model_type", "falcon_mamba", key);
}

/// Channels of each head, and how often the mixer is as wide as the model.
static void describeMamba2(GgufConfig &config) {
  describeBiases(config);
  std::string innerKey = config.keyOf("ssm.inner_size");
  int64_t head = readStateSpaceHead(config);
  int64_t inner =
      config.getKeys().requireInteger(innerKey, 1, int64_t(1) << 24);
  config.setInteger("head_dim", head, innerKey);
  config.setNumber("expand", double(inner) / double(config.getWidth()),
                   innerKey);
}

/// Which layers attend, and which have experts.
static void describeJamba(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  describeBias(config, "mamba_conv_bias", "ssm_conv1d.bias");
  describeBias(config, "mamba_proj_bias", "ssm_in.bias");
  config.setInteger("mamba_expand", readStateSpaceExpansion(config),
                    config.keyOf("ssm.inner_size"));
  llvm::SmallVector<bool> attends = describeAttendingLayers(config), routes;
  for (size_t layer = 0; layer < attends.size(); ++layer)
    routes.push_back(config.getModel().find(
        ("blk." + llvm::Twine(layer) + ".ffn_gate_inp.weight").str()));
  std::string headsKey = config.keyOf("attention.head_count_kv");
  GgufPeriod period = findPeriod(config, attends, headsKey);
  config.setInteger("attn_layer_period", period.period, headsKey);
  config.setInteger("attn_layer_offset", period.offset, headsKey);
  period = findPeriod(config, routes, "blk.*.ffn_gate_inp.weight");
  config.setInteger("expert_layer_period", period.period);
  config.setInteger("expert_layer_offset", period.offset);
  config.setInteger("num_experts", 1, config.keyOf("expert_count"));
  if (llvm::is_contained(routes, true))
    config.copy({"expert_count", "num_experts"});
  else
    keys.ignore({config.keyOf("expert_count")});
}

static constexpr llvm::ArrayRef<GgufKeyRow> kKeys1[] = {kStateKeys, kMambaKeys},
                                            kKeys2[] = {kStateKeys,
                                                        kMamba2Keys},
                                            kKeysOfJamba[] = {kJambaKeys};
static constexpr llvm::ArrayRef<GgufTensorRow> kTensors1[] = {kOuter, kOfMamba},
                                               kTensors2[] = {kOuter,
                                                              kOfMamba2},
                                               kTensorsOfJamba[] = {
                                                   kOfJamba, kAttentionTensors};

static constexpr GgufArchitecture kArchitectures[] = {
    {"jamba", "jamba", kKeysOfJamba, kTensorsOfJamba, describeJamba},
    {"mamba", "mamba", kKeys1, kTensors1, describeMamba},
    {"mamba2", "mamba2", kKeys2, kTensors2, describeMamba2},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kMambaArchitectures =
    kArchitectures;
