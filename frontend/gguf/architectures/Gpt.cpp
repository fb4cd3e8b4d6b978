// conversion/gpt2.py, gptneox.py and bloom.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

//===----------------------------------------------------------------------===//
// GPT-2
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kGpt2Keys[] = {
    {"context_length", "n_positions"},
    {"feed_forward_length", "n_inner"},
    {"attention.head_count", "n_head"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", Kind::Number},
};
static constexpr GgufTensorRow kGpt2Tensors[] = {
    {"token_embd", "transformer.wte"},
    {"position_embd", "transformer.wpe"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "transformer.h.*.ln_1"},
    {"blk.*.attn_qkv", "transformer.h.*.attn.c_attn"},
    {"blk.*.attn_output", "transformer.h.*.attn.c_proj"},
    {"blk.*.ffn_norm", "transformer.h.*.ln_2"},
    {"blk.*.ffn_up", "transformer.h.*.mlp.c_fc"},
    {"blk.*.ffn_down", "transformer.h.*.mlp.c_proj"},
};

/// Matrices, which GPT-2's own checkpoints have as [inputs, outputs], were turned.
/// No key says what the MLP computes, nor by what scores are divided.
static void describeGpt2(GgufConfig &config) {
  config.rename("hidden_size", "n_embd");
  config.rename("num_hidden_layers", "n_layer");
  config.getForm().outputsFirst = true;
  config.assume("activation_function", JsonValue(std::string("gelu_new")));
  config.assume("scale_attn_weights", JsonValue(JsonValue::Storage(true)));
  config.assume("scale_attn_by_inverse_layer_idx",
                JsonValue(JsonValue::Storage(false)));
}

//===----------------------------------------------------------------------===//
// GPT-NeoX
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kNeoXKeys[] = {
    {"context_length", "max_position_embeddings"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.layer_norm_epsilon", "layer_norm_eps", Kind::Number},
    {"use_parallel_residual", "use_parallel_residual", Kind::Boolean},
};
static constexpr GgufTensorRow kNeoXTensors[] = {
    {"token_embd", "gpt_neox.embed_in"},
    {"output_norm", "gpt_neox.final_layer_norm"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "gpt_neox.layers.*.input_layernorm"},
    {"blk.*.attn_qkv", "gpt_neox.layers.*.attention.query_key_value"},
    {"blk.*.attn_output", "gpt_neox.layers.*.attention.dense"},
    {"blk.*.ffn_norm", "gpt_neox.layers.*.post_attention_layernorm"},
    {"blk.*.ffn_up", "gpt_neox.layers.*.mlp.dense_h_to_4h"},
    {"blk.*.ffn_down", "gpt_neox.layers.*.mlp.dense_4h_to_h"},
};

/// The queries of all heads lie before all keys. The converter writes no key for
/// the base of positions and for what the MLP computes: Pythia has the defaults.
static void describeNeoX(GgufConfig &config) {
  config.getForm().queriesFirst = true;
  std::string baseKey = config.keyOf("rope.freq_base"),
              turnedKey = config.keyOf("rope.dimension_count");
  int64_t width = config.getHeadWidth();
  if (auto base = config.getKeys().getNumber(baseKey, 1e-6, 1e15))
    config.setNumber("rotary_emb_base", *base, baseKey);
  else
    config.assume("rotary_emb_base", JsonValue(1e4), baseKey);
  config.assume("hidden_act", JsonValue(std::string("gelu")));
  config.setNumber(
      "rotary_pct",
      double(config.getKeys().getInteger(turnedKey, 1, width).value_or(width)) /
          double(width),
      turnedKey);
  describeBias(config, "attention_bias", "attn_qkv.bias");
}

//===----------------------------------------------------------------------===//
// BLOOM
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kBloomKeys[] = {
    {"context_length", "seq_length"},
    {"feed_forward_length", "n_inner"},
    {"attention.head_count", "n_head"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", Kind::Number},
    // What the other number says.
    {"attention.head_count_kv", "", Kind::Known},
};
static constexpr GgufTensorRow kBloomTensors[] = {
    {"token_embd", "transformer.word_embeddings"},
    {"token_embd_norm", "transformer.word_embeddings_layernorm"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "transformer.h.*.input_layernorm"},
    {"blk.*.attn_qkv", "transformer.h.*.self_attention.query_key_value"},
    {"blk.*.attn_output", "transformer.h.*.self_attention.dense"},
    {"blk.*.ffn_norm", "transformer.h.*.post_attention_layernorm"},
    {"blk.*.ffn_up", "transformer.h.*.mlp.dense_h_to_4h"},
    {"blk.*.ffn_down", "transformer.h.*.mlp.dense_4h_to_h"},
};

/// No key says where residuals begin: before norms in released models.
static void describeBloom(GgufConfig &config) {
  config.getForm().queriesFirst = true;
  config.assume("apply_residual_connection_post_layernorm", JsonValue(false));
}

//===----------------------------------------------------------------------===//

static constexpr llvm::ArrayRef<GgufKeyRow> kKeysOfGpt2[] = {kGpt2Keys},
                                            kKeysOfNeoX[] = {kNeoXKeys},
                                            kKeysOfBloom[] = {kBloomKeys};
static constexpr llvm::ArrayRef<GgufTensorRow> kOfGpt2[] = {kGpt2Tensors},
                                               kOfNeoX[] = {kNeoXTensors},
                                               kOfBloom[] = {kBloomTensors};

static constexpr GgufArchitecture kArchitectures[] = {
    {"bloom", "bloom", kKeysOfBloom, kOfBloom, describeBloom},
    {"gpt2", "gpt2", kKeysOfGpt2, kOfGpt2, describeGpt2},
    {"gptneox", "gpt_neox", kKeysOfNeoX, kOfNeoX, describeNeoX},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kGptArchitectures =
    kArchitectures;
