// The classes RWKV6Qwen2Model and ARwkv7Model of conversion/rwkv.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

static constexpr GgufKeyRow kBothKeys[] = {
    {"context_length", "max_position_embeddings"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::Number},
    // Heads have no number of their own.
    {"attention.head_count", "", Kind::Known},
};

/// As many heads as share the width. What is kept of tokens is one of them; the
/// low ranks' matrices, which the checkpoints have as [inputs, outputs], were turned.
static void describeHeadsOfRwkv(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string sizeKey = config.keyOf("wkv.head_size");
  if (!keys.has(sizeKey))
    keys.report("lacks key " + quote(sizeKey));
  if (config.getWidth() % config.getHeadWidth() != 0)
    keys.report("expects " + quote(sizeKey) + " to divide the width " +
                llvm::Twine(config.getWidth()) + ", but got " +
                llvm::Twine(config.getHeadWidth()));
  config.setInteger(
      "num_attention_heads",
      std::max<int64_t>(config.getWidth() / config.getHeadWidth(), 1), sizeKey);
  keys.getInteger(config.keyOf("token_shift_count"), 1, 1);
  config.getForm().outputsFirst = true;
}

//===----------------------------------------------------------------------===//
// QRWKV6
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kRwkv6Keys[] = {
    {"time_mix_extra_dim", "lora_rank_tokenshift"},
    {"time_decay_extra_dim", "lora_rank_decay"},
};
static constexpr GgufTensorRow kRwkv6Tensors[] = {
    {"blk.*.time_mix_lerp_x.weight", "model.layers.*.self_attn.time_maa_x"},
    {"blk.*.time_mix_lerp_fused.weight",
     "model.layers.*.self_attn.time_maa_{w|k|v|r|g}"},
    {"blk.*.time_mix_w1.weight", "model.layers.*.self_attn.time_maa_w1"},
    {"blk.*.time_mix_w2.weight", "model.layers.*.self_attn.time_maa_w2"},
    {"blk.*.time_mix_decay.weight", "model.layers.*.self_attn.time_decay"},
    {"blk.*.time_mix_decay_w1.weight",
     "model.layers.*.self_attn.time_decay_w1"},
    {"blk.*.time_mix_decay_w2.weight",
     "model.layers.*.self_attn.time_decay_w2"},
    {"blk.*.time_mix_receptance", "model.layers.*.self_attn.q_proj"},
    {"blk.*.time_mix_key", "model.layers.*.self_attn.k_proj"},
    {"blk.*.time_mix_value", "model.layers.*.self_attn.v_proj"},
    {"blk.*.time_mix_gate", "model.layers.*.self_attn.gate"},
    {"blk.*.time_mix_output", "model.layers.*.self_attn.o_proj"},
};

/// Without a number of heads of keys there are as many as of queries.
static void describeRwkv6Qwen2(GgufConfig &config) {
  describeHeadsOfRwkv(config);
  std::string headsKey = config.keyOf("attention.head_count_kv");
  int64_t heads = config.getWidth() / config.getHeadWidth(), keyHeads = heads;
  if (auto each = config.getForEachLayer("attention.head_count_kv", 0,
                                         int64_t(1) << 20);
      each && each->front() > 0) {
    keyHeads = each->front();
    if (!llvm::all_equal(*each))
      config.getKeys().report("expects " + quote(headsKey) +
                              " to be the same for each layer");
  }
  config.setInteger("num_key_value_heads", std::max<int64_t>(keyHeads, 1),
                    headsKey);
  describeBias(config, "attention_bias", "time_mix_receptance.bias");
}

//===----------------------------------------------------------------------===//
// ARWKV
//===----------------------------------------------------------------------===//

static constexpr GgufTensorRow kRwkv7Tensors[] = {
    {"blk.*.time_mix_lerp_fused.weight",
     "model.layers.*.self_attn.time_mixer.x_{r|w|k|v|a|g}", GgufRule::None,
     "blk.*.time_mix_g1.weight"},
    {"blk.*.time_mix_lerp_fused.weight",
     "model.layers.*.self_attn.time_mixer.x_{r|w|k|v|a}"},
    {"blk.*.time_mix_receptance",
     "model.layers.*.self_attn.time_mixer.receptance"},
    {"blk.*.time_mix_key", "model.layers.*.self_attn.time_mixer.key"},
    {"blk.*.time_mix_value", "model.layers.*.self_attn.time_mixer.value"},
    {"blk.*.time_mix_output", "model.layers.*.self_attn.time_mixer.output"},
    {"blk.*.time_mix_ln", "model.layers.*.self_attn.time_mixer.ln_x"},
    {"blk.*.time_mix_k_k.weight", "model.layers.*.self_attn.time_mixer.k_k"},
    {"blk.*.time_mix_k_a.weight", "model.layers.*.self_attn.time_mixer.k_a"},
    {"blk.*.time_mix_r_k.weight", "model.layers.*.self_attn.time_mixer.r_k",
     GgufRule::FlatHeads},
    {"blk.*.time_mix_w0.weight", "model.layers.*.self_attn.time_mixer.w0"},
    {"blk.*.time_mix_w1.weight", "model.layers.*.self_attn.time_mixer.w1"},
    {"blk.*.time_mix_w2.weight", "model.layers.*.self_attn.time_mixer.w2"},
    {"blk.*.time_mix_a0.weight", "model.layers.*.self_attn.time_mixer.a0"},
    {"blk.*.time_mix_a1.weight", "model.layers.*.self_attn.time_mixer.a1"},
    {"blk.*.time_mix_a2.weight", "model.layers.*.self_attn.time_mixer.a2"},
    // The first layer's values are what others move to.
    {"blk.0.time_mix_v0", "", GgufRule::Unused},
    {"blk.0.time_mix_v1", "", GgufRule::Unused},
    {"blk.0.time_mix_v2", "", GgufRule::Unused},
    {"blk.*.time_mix_v0.weight", "model.layers.*.self_attn.time_mixer.v0"},
    {"blk.*.time_mix_v1.weight", "model.layers.*.self_attn.time_mixer.v1"},
    {"blk.*.time_mix_v2.weight", "model.layers.*.self_attn.time_mixer.v2"},
    {"blk.*.time_mix_g1.weight", "model.layers.*.self_attn.time_mixer.g1"},
    {"blk.*.time_mix_g2.weight", "model.layers.*.self_attn.time_mixer.g2"},
};

/// Ranks are the model's code's; whether there are gates and norms of heads the
/// tensors say.
static void describeArwkv7(GgufConfig &config) {
  describeHeadsOfRwkv(config);
  GgufMetadata &keys = config.getKeys();
  config.setInteger("head_size", config.getHeadWidth(),
                    config.keyOf("wkv.head_size"));
  bool hasGate = anyLayerHas(config, "time_mix_g1.weight");
  int64_t gateRank = hasGate ? 128 : 0;
  for (auto [key, rank] :
       {std::pair<llvm::StringRef, int64_t>{"attention.decay_lora_rank", 64},
        {"attention.iclr_lora_rank", 64},
        {"attention.value_residual_mix_lora_rank", 32},
        {"attention.gate_lora_rank", gateRank}})
    keys.getInteger(config.keyOf(key), rank, rank);
  config.setBoolean("wkv_has_gate", hasGate, "blk.*.time_mix_g1.weight");
  describeBias(config, "wkv_has_group_norm", "time_mix_ln.weight");
}

//===----------------------------------------------------------------------===//

static constexpr llvm::ArrayRef<GgufKeyRow> kKeysOfRwkv6[] = {kBothKeys,
                                                              kRwkv6Keys},
                                            kKeysOfRwkv7[] = {kBothKeys};
static constexpr llvm::ArrayRef<GgufTensorRow>
    kOfRwkv6[] = {kOuterTensors, kRwkv6Tensors, kMlpTensors, kTwoNorms},
    kOfRwkv7[] = {kOuterTensors, kRwkv7Tensors, kMlpTensors, kTwoNorms};

static constexpr GgufArchitecture kArchitectures[] = {
    {"arwkv7", "rwkv_hybrid", kKeysOfRwkv7, kOfRwkv7, describeArwkv7},
    {"rwkv6qwen2", "rwkv6qwen2", kKeysOfRwkv6, kOfRwkv6, describeRwkv6Qwen2},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kQwenRwkvArchitectures =
    kArchitectures;
