// Hybrids with Mamba-2's mixer: conversion/granite.py, falcon_h1.py and nemotron.py
// of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

#include <cmath>

using namespace effc::frontend;
using Kind = GgufKeyKind;

static constexpr GgufKeyRow kMixerKeys[] = {
    {"ssm.conv_kernel", "mamba_d_conv"},
    {"ssm.state_size", "mamba_d_state"},
    {"ssm.group_count", "mamba_n_groups"},
    {"ssm.time_step_rank", "mamba_n_heads"},
};
static constexpr GgufTensorRow kMixerTensors[] = {
    {"blk.*.ssm_in", "model.layers.*.mamba.in_proj"},
    {"blk.*.ssm_conv1d", "model.layers.*.mamba.conv1d"},
    {"blk.*.ssm_dt.bias", "model.layers.*.mamba.dt_bias"},
    {"blk.*.ssm_a", "model.layers.*.mamba.A_log", GgufRule::NegatedExponential},
    {"blk.*.ssm_d", "model.layers.*.mamba.D"},
    {"blk.*.ssm_norm", "model.layers.*.mamba.norm", GgufRule::Unflattened},
    {"blk.*.ssm_out", "model.layers.*.mamba.out_proj"},
};

static void describeMixer(GgufConfig &config) {
  config.setInteger("mamba_d_head", readStateSpaceHead(config),
                    config.keyOf("ssm.inner_size"));
  describeBias(config, "mamba_conv_bias", "ssm_conv1d.bias");
  describeBias(config, "mamba_proj_bias", "ssm_in.bias");
  describeBias(config, "attention_bias", "attn_q.bias");
}

//===----------------------------------------------------------------------===//
// Granite 4, and Bamba, which differs in factors that are 1
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kGraniteHybridKeys[] = {
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads", Kind::SameInEachLayer},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::Number},
};
// An MLP that every token passes is called so beside experts alone.
static constexpr GgufTensorRow kGraniteHybridTensors[] = {
    {"blk.*.ffn_gate", "model.layers.*.shared_mlp.gate_proj"},
    {"blk.*.ffn_up", "model.layers.*.shared_mlp.up_proj"},
    {"blk.*.ffn_down", "model.layers.*.shared_mlp.output_linear"},
    {"blk.*.ffn_gate_shexp", "model.layers.*.shared_mlp.gate_proj"},
    {"blk.*.ffn_up_shexp", "model.layers.*.shared_mlp.up_proj"},
    {"blk.*.ffn_down_shexp", "model.layers.*.shared_mlp.output_linear"},
    {"blk.*.ffn_gate_inp", "model.layers.*.block_sparse_moe.router.layer"},
    {"blk.*.ffn_gate_exps",
     "model.layers.*.block_sparse_moe.experts.#.gate_proj"},
    {"blk.*.ffn_up_exps", "model.layers.*.block_sparse_moe.experts.#.up_proj"},
    {"blk.*.ffn_down_exps",
     "model.layers.*.block_sparse_moe.experts.#.down_proj"},
};

/// The key of rotary positions is a switch here, which is on without it.
static void describeGraniteRotary(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string key = config.keyOf("rope.scaling.finetuned");
  bool turns = keys.getBoolean(key).value_or(true);
  config.setText("position_embedding_type", turns ? "rope" : "nope", key);
  if (turns)
    return describeRotary(config);
  keys.ignore({config.keyOf("rope.freq_base"),
               config.keyOf("rope.dimension_count"),
               config.keyOf("rope.scaling.type")});
}

/// The experts' width, and that of what every token passes, have one key each;
/// without experts both say the same.
static void describeGraniteWidths(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string countKey = config.keyOf("expert_count");
  int64_t count = keys.getInteger(countKey, 0, int64_t(1) << 14).value_or(0);
  config.setInteger("num_local_experts", count, countKey);
  constexpr llvm::StringLiteral kShared = "expert_shared_feed_forward_length",
                                kOwn = "feed_forward_length";
  config.copy({kOwn,
               count > 0 ? llvm::StringLiteral("intermediate_size")
                         : llvm::StringLiteral("shared_intermediate_size"),
               Kind::SameInEachLayer});
  if (count > 0 || config.has(kShared))
    config.copy({kShared, "shared_intermediate_size"});
  if (count > 0)
    config.copy({"expert_used_count", "num_experts_per_tok"});
  else
    keys.ignore({config.keyOf("expert_used_count")});
}

static void describeGraniteHybrid(GgufConfig &config) {
  describeHeads(config);
  describeGraniteRotary(config);
  describeGraniteWidths(config);
  describeMixer(config);
  config.setInteger("mamba_expand", readStateSpaceExpansion(config),
                    config.keyOf("ssm.inner_size"));
  std::vector<llvm::StringRef> kinds;
  for (bool attends : describeAttendingLayers(config))
    kinds.push_back(attends ? "attention" : "mamba");
  config.setTexts("layer_types", kinds,
                  config.keyOf("attention.head_count_kv"));
  // As the format's own library has it.
  if (!config.has("attention.scale"))
    config.setNumber("attention_multiplier",
                     1 / std::sqrt(double(config.getHeadWidth())),
                     config.keyOf("attention.scale"));
}

//===----------------------------------------------------------------------===//
// Granite 3 with experts, in whose layers no state but keys is: Granite 4 with
// attention alone
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kGraniteMoeKeys[] = {
    {"attention.head_count_kv", "num_key_value_heads", Kind::SameInEachLayer},
};

static void describeGraniteMoe(GgufConfig &config) {
  describeHeads(config);
  describeGraniteRotary(config);
  describeBias(config, "attention_bias", "attn_q.bias");
  // Without the key no layer has what every token passes.
  config.setInteger("shared_intermediate_size", 0,
                    config.keyOf("expert_shared_feed_forward_length"));
  describeGraniteWidths(config);
  std::vector<llvm::StringRef> kinds(size_t(config.getLayers()), "attention");
  config.setTexts("layer_types", kinds, config.keyOf("block_count"));
  // Of a mixer that no layer has.
  config.setInteger("mamba_n_heads", 1);
  config.setInteger("mamba_d_state", 1);
  // As the format's own library has it.
  if (!config.has("attention.scale"))
    config.setNumber("attention_multiplier",
                     1 / std::sqrt(double(config.getHeadWidth())),
                     config.keyOf("attention.scale"));
}

//===----------------------------------------------------------------------===//
// Falcon-H1
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kFalconKeys[] = {
    {"ssm.inner_size", "mamba_d_ssm"},
};
static constexpr GgufTensorRow kFalconTensors[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.final_layernorm"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "model.layers.*.input_layernorm"},
    {"blk.*.ffn_norm", "model.layers.*.pre_ff_layernorm"},
    {"blk.*.ffn_gate", "model.layers.*.feed_forward.gate_proj"},
    {"blk.*.ffn_up", "model.layers.*.feed_forward.up_proj"},
    {"blk.*.ffn_down", "model.layers.*.feed_forward.down_proj"},
};

/// The converter has multiplied all factors into the matrices, those of the table
/// of embeddings and of the head too. Norms in front of the gate it has no key for.
static void describeFalconH1(GgufConfig &config) {
  describeHeads(config);
  describeRotary(config);
  describeMixer(config);
  describeBias(config, "projectors_bias", "ssm_out.bias");
  describeBias(config, "mlp_bias", "ffn_up.bias");
  describeBias(config, "mamba_rms_norm", "ssm_norm.weight");
  config.setBoolean("mamba_norm_before_gate", false, "blk.0.ssm_norm.weight");
  constexpr llvm::StringLiteral kHead = "output.weight";
  if (!config.getModel().find(kHead))
    config.getKeys().report(
        "lacks tensor " + quote(kHead) +
        ": the file does not say by which factor the head differs from the "
        "table of embeddings; compile the checkpoint that it was made from");
}

//===----------------------------------------------------------------------===//
// Nemotron-H
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kNemotronKeys[] = {
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads", Kind::SameInEachLayer},
    // Of files with both the latter is the public library's.
    {"attention.layer_norm_rms_epsilon", "layer_norm_epsilon", Kind::Number},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", Kind::Number},
    {"ssm.conv_kernel", "conv_kernel"},
    {"ssm.state_size", "ssm_state_size"},
    {"ssm.group_count", "n_groups"},
    {"ssm.time_step_rank", "mamba_num_heads"},
    // What the tensors say.
    {"feed_forward_length", "", Kind::Known},
    // No layer has positions.
    {"rope.freq_base", "", Kind::Known},
    {"rope.dimension_count", "", Kind::Known},
    {"rope.scaling.finetuned", "", Kind::Known},
};
static constexpr GgufKeyRow kNemotronMoeKeys[] = {
    {"expert_count", "n_routed_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length",
     "moe_shared_expert_intermediate_size"},
    {"expert_shared_count", "", Kind::Known},
    {"expert_weights_norm", "norm_topk_prob", Kind::Boolean},
    {"expert_weights_scale", "routed_scaling_factor", Kind::Number},
    {"expert_group_count", "n_group"},
    {"expert_group_used_count", "topk_group"},
    {"moe_latent_size", "moe_latent_size"},
};
static constexpr GgufTensorRow kNemotronTensors[] = {
    {"token_embd", "backbone.embeddings"},
    {"output_norm", "backbone.norm_f"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "backbone.layers.*.norm"},
    {"blk.*.ssm_in", "backbone.layers.*.mixer.in_proj"},
    {"blk.*.ssm_conv1d", "backbone.layers.*.mixer.conv1d"},
    {"blk.*.ssm_dt.bias", "backbone.layers.*.mixer.dt_bias"},
    {"blk.*.ssm_a", "backbone.layers.*.mixer.A_log",
     GgufRule::NegatedExponential},
    {"blk.*.ssm_d", "backbone.layers.*.mixer.D"},
    {"blk.*.ssm_norm", "backbone.layers.*.mixer.norm", GgufRule::Unflattened},
    {"blk.*.ssm_out", "backbone.layers.*.mixer.out_proj"},
    {"blk.*.attn_q", "backbone.layers.*.mixer.q_proj", GgufRule::Pairs},
    {"blk.*.attn_k", "backbone.layers.*.mixer.k_proj", GgufRule::Pairs},
    {"blk.*.attn_v", "backbone.layers.*.mixer.v_proj"},
    {"blk.*.attn_output", "backbone.layers.*.mixer.o_proj"},
    {"blk.*.ffn_up", "backbone.layers.*.mixer.up_proj"},
    {"blk.*.ffn_down", "backbone.layers.*.mixer.down_proj"},
    {"blk.*.ffn_gate_inp", "backbone.layers.*.mixer.gate"},
    {"blk.*.exp_probs_b.bias",
     "backbone.layers.*.mixer.gate.e_score_correction_bias"},
    {"blk.*.ffn_up_exps", "backbone.layers.*.mixer.experts.#.up_proj"},
    {"blk.*.ffn_down_exps", "backbone.layers.*.mixer.experts.#.down_proj"},
    {"blk.*.ffn_up_shexp", "backbone.layers.*.mixer.shared_experts.up_proj"},
    {"blk.*.ffn_down_shexp",
     "backbone.layers.*.mixer.shared_experts.down_proj"},
    {"blk.*.ffn_latent_down", "backbone.layers.*.mixer.fc1_latent_proj"},
    {"blk.*.ffn_latent_up", "backbone.layers.*.mixer.fc2_latent_proj"},
};

/// Which kind each layer is follows from its tensors: keys of released files leave
/// MLPs out.
static void describeNemotronLayers(GgufConfig &config) {
  std::vector<llvm::StringRef> kinds;
  int64_t units = 1; // of the first MLP
  for (int64_t layer = 0; layer < config.getLayers(); ++layer) {
    auto find = [&](const char *tensor) {
      return config.getModel().find(
          ("blk." + llvm::Twine(layer) + "." + tensor + ".weight").str());
    };
    const TensorEntry *up = find("ffn_up");
    if (up && units == 1)
      units = int64_t(up->shape.front());
    kinds.push_back(find("ssm_in")         ? "mamba"
                    : find("ffn_gate_inp") ? "moe"
                    : up                   ? "mlp"
                                           : "attention");
  }
  config.setTexts("layers_block_type", kinds);
  config.setInteger("intermediate_size", units, "blk.*.ffn_up.weight");
}

static void describeNemotronH(GgufConfig &config) {
  describeHeads(config);
  describeNemotronLayers(config);
  describeAttendingLayers(config);
  config.setInteger("mamba_head_dim", readStateSpaceHead(config),
                    config.keyOf("ssm.inner_size"));
  describeBias(config, "use_conv_bias", "ssm_conv1d.bias");
  describeBias(config, "use_bias", "ssm_in.bias");
  describeBias(config, "attention_bias", "attn_q.bias");
  describeBias(config, "mlp_bias", "ffn_up.bias");
}

/// Scores are sigmoids; matrices of the latent channels have biases where MLPs do.
static void describeNemotronHMoe(GgufConfig &config) {
  describeNemotronH(config);
  describeBias(config, "mlp_bias", "ffn_up_shexp.bias");
  config.getKeys().getInteger(config.keyOf("expert_gating_func"), 2, 2);
}

//===----------------------------------------------------------------------===//

static constexpr llvm::ArrayRef<GgufKeyRow>
    kKeysOfGranite[] = {kGraniteHybridKeys, kGraniteKeys, kMixerKeys},
    kKeysOfGraniteMoe[] = {kGraniteHybridKeys, kGraniteKeys, kGraniteMoeKeys},
    kKeysOfFalcon[] = {kDecoderKeys, kMixerKeys, kFalconKeys},
    kKeysOfNemotron[] = {kNemotronKeys},
    kKeysOfNemotronMoe[] = {kNemotronKeys, kNemotronMoeKeys};
static constexpr llvm::ArrayRef<GgufTensorRow>
    kTensorsOfGranite[] = {kOuterTensors, kTwoNorms, kPairedAttentionTensors,
                           kMixerTensors, kGraniteHybridTensors},
    kTensorsOfGraniteMoe[] = {kOuterTensors, kTwoNorms, kPairedAttentionTensors,
                              kGraniteHybridTensors},
    kTensorsOfFalcon[] = {kFalconTensors, kAttentionTensors, kMixerTensors},
    kTensorsOfNemotron[] = {kNemotronTensors};

static constexpr GgufArchitecture kArchitectures[] = {
    {"falcon-h1", "falcon_h1", kKeysOfFalcon, kTensorsOfFalcon,
     describeFalconH1},
    {"granitehybrid", "granitemoehybrid", kKeysOfGranite, kTensorsOfGranite,
     describeGraniteHybrid},
    {"granitemoe", "granitemoehybrid", kKeysOfGraniteMoe, kTensorsOfGraniteMoe,
     describeGraniteMoe},
    {"nemotron_h", "nemotron_h", kKeysOfNemotron, kTensorsOfNemotron,
     describeNemotronH},
    {"nemotron_h_moe", "nemotron_h", kKeysOfNemotronMoe, kTensorsOfNemotron,
     describeNemotronHMoe},
};
const llvm::ArrayRef<GgufArchitecture>
    effc::frontend::kStateSpaceArchitectures = kArchitectures;
