// The class MiniMaxM2Model of conversion/minimax.py, and BailingMoeV2Model and
// SarvamMoEModel of conversion/bailingmoe.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

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

static void describeBailingMoe2(GgufConfig &config) {
  describeTurnedHeads(config);
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
  describeBias(config, "use_qk_norm", "attn_q_norm.weight");
  describeBias(config, "use_qkv_bias", "attn_qkv.bias");
  describeBias(config, "use_bias", "attn_output.bias");
}

static constexpr llvm::ArrayRef<GgufKeyRow> kKeysOfMiniMax[] = {kDecoderKeys,
                                                                kMiniMaxKeys},
                                            kKeysOfBailing[] = {kDecoderKeys,
                                                                kBailingKeys};
static constexpr llvm::ArrayRef<GgufTensorRow>
    kOfMiniMax[] = {kOuterTensors, kAttentionTensors, kTwoNorms,
                    kMiniMaxTensors},
    kOfBailing[] = {kBailingTensors, kMlpTensors, kTwoNorms};

static constexpr GgufArchitecture kArchitectures[] = {
    {"bailingmoe2", "bailing_moe", kKeysOfBailing, kOfBailing,
     describeBailingMoe2},
    {"minimax-m2", "minimax_m2", kKeysOfMiniMax, kOfMiniMax, describeMiniMaxM2},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kExpertArchitectures =
    kArchitectures;
