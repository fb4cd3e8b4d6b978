// Rows that several architectures share.
#ifndef EFFC_FRONTEND_GGUF_ARCHITECTURES_ROWS_H
#define EFFC_FRONTEND_GGUF_ARCHITECTURES_ROWS_H

#include "frontend/gguf/Config.h"

namespace effc::frontend {

/// Of models with attention and a gated MLP: `intermediate_size`, heads, norms.
inline constexpr GgufKeyRow kDecoderKeys[] = {
    {"context_length", "max_position_embeddings"},
    {"feed_forward_length", "intermediate_size", GgufKeyKind::SameInEachLayer},
    {"attention.head_count", "num_attention_heads",
     GgufKeyKind::SameInEachLayer},
    {"attention.head_count_kv", "num_key_value_heads",
     GgufKeyKind::SameInEachLayer},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", GgufKeyKind::Number},
};

/// The table of embeddings, the norm behind the layers and the head, by the names
/// of most families.
inline constexpr GgufTensorRow kOuterTensors[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
};

/// Projections of attention as they lie, and with channels in pairs.
inline constexpr GgufTensorRow kAttentionTensors[] = {
    {"blk.*.attn_q", "model.layers.*.self_attn.q_proj"},
    {"blk.*.attn_k", "model.layers.*.self_attn.k_proj"},
    {"blk.*.attn_v", "model.layers.*.self_attn.v_proj"},
    {"blk.*.attn_output", "model.layers.*.self_attn.o_proj"},
    {"blk.*.attn_q_norm", "model.layers.*.self_attn.q_norm"},
    {"blk.*.attn_k_norm", "model.layers.*.self_attn.k_norm"},
};
inline constexpr GgufTensorRow kPairedAttentionTensors[] = {
    {"blk.*.attn_q", "model.layers.*.self_attn.q_proj", GgufRule::Pairs},
    {"blk.*.attn_k", "model.layers.*.self_attn.k_proj", GgufRule::Pairs},
    {"blk.*.attn_v", "model.layers.*.self_attn.v_proj"},
    {"blk.*.attn_output", "model.layers.*.self_attn.o_proj"},
};

/// Attention whose keys and values lie in one compressed row. Of old files one
/// matrix has keys and values, of some all three are there.
inline constexpr GgufTensorRow kLatentTensors[] = {
    {"blk.*.attn_q_a_norm", "model.layers.*.self_attn.q_a_layernorm"},
    {"blk.*.attn_q_a", "model.layers.*.self_attn.q_a_proj"},
    {"blk.*.attn_q_b", "model.layers.*.self_attn.q_b_proj"},
    {"blk.*.attn_kv_a_mqa", "model.layers.*.self_attn.kv_a_proj_with_mqa"},
    {"blk.*.attn_kv_a_norm", "model.layers.*.self_attn.kv_a_layernorm"},
    {"blk.*.attn_kv_b", "", GgufRule::Unused, "blk.*.attn_k_b.weight"},
    {"blk.*.attn_kv_b", "model.layers.*.self_attn.kv_b_proj"},
    {"blk.*.attn_k_b", "model.layers.*.self_attn.k_b_proj"},
    {"blk.*.attn_v_b", "model.layers.*.self_attn.v_b_proj"},
};

/// A gated MLP, and the norms before attention and before it.
inline constexpr GgufTensorRow kMlpTensors[] = {
    {"blk.*.ffn_gate", "model.layers.*.mlp.gate_proj"},
    {"blk.*.ffn_up", "model.layers.*.mlp.up_proj"},
    {"blk.*.ffn_down", "model.layers.*.mlp.down_proj"},
};
inline constexpr GgufTensorRow kTwoNorms[] = {
    {"blk.*.attn_norm", "model.layers.*.input_layernorm"},
    {"blk.*.ffn_norm", "model.layers.*.post_attention_layernorm"},
};

/// Factors of Granite, by its own names.
inline constexpr GgufKeyRow kGraniteKeys[] = {
    {"attention.scale", "attention_multiplier", GgufKeyKind::Number},
    {"embedding_scale", "embedding_multiplier", GgufKeyKind::Number},
    {"residual_scale", "residual_multiplier", GgufKeyKind::Number},
    {"logit_scale", "logits_scaling", GgufKeyKind::Number},
};

/// Experts of Qwen, some of whose models have one that every token passes.
inline constexpr GgufTensorRow kExpertTensors[] = {
    {"blk.*.ffn_gate_inp", "model.layers.*.mlp.gate"},
    {"blk.*.ffn_gate_exps", "model.layers.*.mlp.experts.#.gate_proj"},
    {"blk.*.ffn_up_exps", "model.layers.*.mlp.experts.#.up_proj"},
    {"blk.*.ffn_down_exps", "model.layers.*.mlp.experts.#.down_proj"},
    {"blk.*.ffn_gate_inp_shexp", "model.layers.*.mlp.shared_expert_gate"},
    {"blk.*.ffn_gate_shexp", "model.layers.*.mlp.shared_expert.gate_proj"},
    {"blk.*.ffn_up_shexp", "model.layers.*.mlp.shared_expert.up_proj"},
    {"blk.*.ffn_down_shexp", "model.layers.*.mlp.shared_expert.down_proj"},
};
inline constexpr GgufKeyRow kExpertKeys[] = {
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
};

/// `head_dim`, and that values are as wide as keys.
void describeHeads(GgufConfig &config);

/// `mlp_only_layers`: those without a router.
void describeDenseLayers(GgufConfig &config);

/// `layer_types`: which layers see all keys. The file lists those with a window, or
/// gives a period, `period` where it does not; of each the last layer has none.
void describeWindowPattern(GgufConfig &config, int64_t period);

/// Whether any layer of the model has `tensor`.
bool anyLayerHas(GgufConfig &config, llvm::StringRef tensor);

/// Sets a boolean `field`: whether any layer has `tensor`, such as a bias, which
/// no key says.
void describeBias(GgufConfig &config, llvm::StringRef field,
                  llvm::StringRef tensor);

/// Which layers attend: those with heads of keys. Sets `num_key_value_heads`, and
/// reports attending layers that differ in it.
llvm::SmallVector<bool> describeAttendingLayers(GgufConfig &config);

/// Channels of each head of a state space (`ssm.inner_size`, `ssm.time_step_rank`),
/// at least 1; reports heads that do not share the channels evenly.
int64_t readStateSpaceHead(GgufConfig &config);

/// How often `ssm.inner_size` holds the width of the model; reports what is no
/// multiple of it.
int64_t readStateSpaceExpansion(GgufConfig &config);

/// The layers that `holds` says are each `period`-th from `offset` on; a problem
/// about `key` where no period says so. Layers that never hold have a period past
/// their last.
struct GgufPeriod {
  int64_t period, offset;
};
GgufPeriod findPeriod(GgufConfig &config, llvm::ArrayRef<bool> holds,
                      llvm::StringRef key);

// One group of architectures each.
extern const llvm::ArrayRef<GgufArchitecture> kDeepSeekArchitectures,
    kExpertArchitectures, kGemmaArchitectures, kGptArchitectures,
    kLlamaArchitectures, kMambaArchitectures, kPlamoArchitectures,
    kQwenArchitectures, kQwenRwkvArchitectures, kRecurrentArchitectures,
    kRelativeArchitectures, kStateSpaceArchitectures;

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_ARCHITECTURES_ROWS_H
