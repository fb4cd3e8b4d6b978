// conversion/command_r.py, exaone.py, gpt_oss.py, lfm2.py, olmo.py and smollm3.py of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

/// Biases of attention have no key: they are there or not.
static void describeBiases(GgufConfig &config) {
  if (config.getModel().find("blk.0.attn_q.bias"))
    config.setBoolean("attention_bias", true, "blk.0.attn_q.bias");
  if (config.getModel().find("blk.0.ffn_up.bias"))
    config.setBoolean("mlp_bias", true, "blk.0.ffn_up.bias");
}

static void describePlain(GgufConfig &config) {
  describeHeads(config);
  describeRotary(config);
  describeBiases(config);
}

//===----------------------------------------------------------------------===//
// SmolLM3
//===----------------------------------------------------------------------===//

// Every fourth layer turns nothing, which no key says: the family's default.
static constexpr llvm::ArrayRef<GgufKeyRow> kKeys[] = {kDecoderKeys};
static constexpr llvm::ArrayRef<GgufTensorRow> kOfSmolLm3[] = {
    kOuterTensors, kPairedAttentionTensors, kMlpTensors, kTwoNorms};

//===----------------------------------------------------------------------===//
// OLMo 2 and 3, EXAONE 4
//===----------------------------------------------------------------------===//

static constexpr GgufTensorRow kNormsBehind[] = {
    {"blk.*.post_attention_norm", "model.layers.*.post_attention_layernorm"},
    {"blk.*.post_ffw_norm", "model.layers.*.post_feedforward_layernorm"},
};
static constexpr llvm::ArrayRef<GgufTensorRow> kOfOlmo2[] = {
    kOuterTensors, kAttentionTensors, kMlpTensors, kNormsBehind};

/// Which layers have the window, as a key says for each.
static void describeSlidingLayers(GgufConfig &config) {
  config.copy({"attention.sliding_window", "sliding_window"});
  GgufMetadata &keys = config.getKeys();
  std::string pattern = config.keyOf("attention.sliding_window_pattern");
  if (!keys.has(pattern))
    return;
  std::optional<std::vector<bool>> slides = keys.getBooleans(
      pattern, uint64_t(config.getLayers() + config.getFurtherLayers()));
  if (!slides)
    return;
  std::vector<llvm::StringRef> kinds;
  for (int64_t layer = 0; layer < config.getLayers(); ++layer)
    kinds.push_back((*slides)[size_t(layer)] ? "sliding_attention"
                                             : "full_attention");
  config.setTexts("layer_types", kinds, pattern);
}

/// A window makes it OLMo 3. Layers with one turn without scaling, and by a theta
/// of their own where a key says it.
static void describeOlmo2(GgufConfig &config) {
  std::string window = config.keyOf("attention.sliding_window");
  if (!config.getKeys().has(window))
    return describePlain(config);
  describeHeads(config);
  describeBiases(config);
  config.setText("model_type", "olmo3", window);
  describeSlidingLayers(config);
  GgufConfig both = config.startInner(), whole = config.startInner(),
             local = config.startInner();
  describeRotary(whole, {.channels = config.getHeadWidth(), .isObject = true});
  local.setText("rope_type", "default");
  local.setNumber("rope_theta", 1e4, config.keyOf("rope.freq_base"));
  local.copy({"rope.freq_base", "rope_theta", Kind::Number});
  local.copy({"rope.freq_base_swa", "rope_theta", Kind::Number});
  both.setObject("full_attention", std::move(whole));
  both.setObject("sliding_attention", std::move(local));
  config.setObject("rope_parameters", std::move(both));
}

/// Without the key no layer has a window.
static void describeExaone4(GgufConfig &config) {
  describePlain(config);
  if (!config.has("attention.sliding_window"))
    config.set("sliding_window", JsonValue(),
               config.keyOf("attention.sliding_window"));
  describeSlidingLayers(config);
}

//===----------------------------------------------------------------------===//
// LFM2
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kLfm2Keys[] = {
    {"context_length", "max_position_embeddings"},
    {"feed_forward_length", "intermediate_size", Kind::SameInEachLayer},
    {"attention.head_count", "num_attention_heads", Kind::SameInEachLayer},
    {"attention.layer_norm_rms_epsilon", "norm_eps", Kind::Number},
    {"shortconv.l_cache", "conv_L_cache"},
};
static constexpr GgufTensorRow kLfm2Tensors[] = {
    {"token_embd", "model.embed_tokens"},
    // Of the layers' results, whatever the file calls it.
    {"token_embd_norm", "model.embedding_norm"},
    {"output", "lm_head"},
    {"blk.*.attn_norm", "model.layers.*.operator_norm"},
    {"blk.*.ffn_norm", "model.layers.*.ffn_norm"},
    {"blk.*.shortconv.conv", "model.layers.*.conv.conv"},
    {"blk.*.shortconv.in_proj", "model.layers.*.conv.in_proj"},
    {"blk.*.shortconv.out_proj", "model.layers.*.conv.out_proj"},
    {"blk.*.attn_q", "model.layers.*.self_attn.q_proj"},
    {"blk.*.attn_k", "model.layers.*.self_attn.k_proj"},
    {"blk.*.attn_v", "model.layers.*.self_attn.v_proj"},
    {"blk.*.attn_output", "model.layers.*.self_attn.out_proj"},
    {"blk.*.attn_q_norm", "model.layers.*.self_attn.q_layernorm"},
    {"blk.*.attn_k_norm", "model.layers.*.self_attn.k_layernorm"},
    {"blk.*.ffn_gate", "model.layers.*.feed_forward.w1"},
    {"blk.*.ffn_up", "model.layers.*.feed_forward.w3"},
    {"blk.*.ffn_down", "model.layers.*.feed_forward.w2"},
};
static constexpr GgufKeyRow kLfm2MoeKeys[] = {
    {"leading_dense_block_count", "num_dense_layers"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
};
static constexpr GgufTensorRow kLfm2MoeTensors[] = {
    {"blk.*.ffn_gate_inp", "model.layers.*.feed_forward.gate"},
    {"blk.*.exp_probs_b.bias", "model.layers.*.feed_forward.expert_bias"},
    {"blk.*.ffn_gate_exps", "model.layers.*.feed_forward.experts.#.w1"},
    {"blk.*.ffn_up_exps", "model.layers.*.feed_forward.experts.#.w3"},
    {"blk.*.ffn_down_exps", "model.layers.*.feed_forward.experts.#.w2"},
};
static constexpr llvm::ArrayRef<GgufKeyRow> kKeysOfLfm2[] = {kLfm2Keys},
                                            kKeysOfLfm2Moe[] = {kLfm2Keys,
                                                                kLfm2MoeKeys};
static constexpr llvm::ArrayRef<GgufTensorRow> kOfLfm2[] = {kLfm2Tensors},
                                               kOfLfm2Moe[] = {kLfm2Tensors,
                                                               kLfm2MoeTensors};

/// A layer without heads of keys is a convolution. Whether there are taps with a
/// bias the tensor says.
static void describeLfm2Layers(GgufConfig &config) {
  describeHeads(config);
  describeRotary(config);
  std::vector<llvm::StringRef> kinds;
  for (bool attends : describeAttendingLayers(config))
    kinds.push_back(attends ? "full_attention" : "conv");
  config.setTexts("layer_types", kinds,
                  config.keyOf("attention.head_count_kv"));
  describeBias(config, "conv_bias", "shortconv.conv.bias");
}

/// The file has the MLP's width as it is.
static void describeLfm2(GgufConfig &config) {
  describeLfm2Layers(config);
  config.setBoolean("block_auto_adjust_ff_dim", false,
                    config.keyOf("feed_forward_length"));
}

/// Scores are sigmoids. Shares of the experts taken sum up to 1 and are not
/// multiplied with anything, of which the format has no keys.
static void describeLfm2Moe(GgufConfig &config) {
  describeLfm2Layers(config);
  config.getKeys().getInteger(config.keyOf("expert_gating_func"), 2, 2);
  if (!config.has("leading_dense_block_count"))
    config.setInteger("num_dense_layers", 0,
                      config.keyOf("leading_dense_block_count"));
  describeBias(config, "use_expert_bias", "exp_probs_b.bias");
}

//===----------------------------------------------------------------------===//
// gpt-oss
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kGptOssKeys[] = {
    {"attention.sliding_window", "sliding_window"},
    {"expert_count", "num_local_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    // What `feed_forward_length` says.
    {"expert_feed_forward_length", "intermediate_size"},
};
static constexpr GgufTensorRow kGptOssTensors[] = {
    {"blk.*.attn_norm", "model.layers.*.input_layernorm"},
    {"blk.*.post_attention_norm", "model.layers.*.post_attention_layernorm"},
    {"blk.*.attn_sinks.weight", "model.layers.*.self_attn.sinks"},
    {"blk.*.ffn_gate_inp", "model.layers.*.mlp.router"},
    {"blk.*.ffn_gate_exps", "model.layers.*.mlp.experts.gate_proj"},
    {"blk.*.ffn_up_exps", "model.layers.*.mlp.experts.up_proj"},
    {"blk.*.ffn_down_exps", "model.layers.*.mlp.experts.down_proj"},
};
static constexpr llvm::ArrayRef<GgufKeyRow> kKeysOfGptOss[] = {kDecoderKeys,
                                                               kGptOssKeys};
static constexpr llvm::ArrayRef<GgufTensorRow> kOfGptOss[] = {
    kOuterTensors, kAttentionTensors, kGptOssTensors};

/// yarn's ramp lies between pairs, as the model was made. Where the file has no
/// scaling there is none, though the family's own is yarn.
static void describeGptOss(GgufConfig &config) {
  describeHeads(config);
  GgufConfig rotary = config.startInner();
  describeRotary(rotary, {.truncates = false,
                          .channels = config.getHeadWidth(),
                          .isObject = true});
  config.setObject("rope_parameters", std::move(rotary));
  constexpr llvm::StringLiteral kBias = "blk.0.attn_q.bias";
  config.setBoolean("attention_bias", config.getModel().find(kBias), kBias);
}

//===----------------------------------------------------------------------===//
// Cohere 2
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kCohereKeys[] = {
    {"attention.layer_norm_epsilon", "layer_norm_eps", Kind::Number},
    {"logit_scale", "logit_scale", Kind::Number},
};
static constexpr llvm::ArrayRef<GgufKeyRow> kKeysOfCohere[] = {kDecoderKeys,
                                                               kCohereKeys};
// One norm feeds attention and the MLP.
static constexpr llvm::ArrayRef<GgufTensorRow> kOfCohere[] = {
    kOuterTensors, kAttentionTensors, kMlpTensors, kTwoNorms};

static void describeCohere2(GgufConfig &config) {
  describePlain(config);
  config.copy({"attention.sliding_window", "sliding_window"});
  describeWindowPattern(config, 4);
}

static constexpr GgufArchitecture kArchitectures[] = {
    {"cohere2", "cohere2", kKeysOfCohere, kOfCohere, describeCohere2},
    {"exaone4", "exaone4", kKeys, kOfOlmo2, describeExaone4},
    {"gpt-oss", "gpt_oss", kKeysOfGptOss, kOfGptOss, describeGptOss},
    {"lfm2", "lfm2", kKeysOfLfm2, kOfLfm2, describeLfm2},
    {"lfm2moe", "lfm2_moe", kKeysOfLfm2Moe, kOfLfm2Moe, describeLfm2Moe},
    {"olmo2", "olmo2", kKeys, kOfOlmo2, describeOlmo2},
    {"smollm3", "smollm3", kKeys, kOfSmolLm3, describePlain},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kRelativeArchitectures =
    kArchitectures;
