// conversion/gemma.py and src/models/gemma*.cpp of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

//===----------------------------------------------------------------------===//
// Gemma 2 and 3
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kOfGemma[] = {
    {"attn_logit_softcapping", "attn_logit_softcapping", Kind::Number},
    {"final_logit_softcapping", "final_logit_softcapping", Kind::Number},
    {"attention.sliding_window", "sliding_window"},
};

static constexpr GgufTensorRow kNorms[] = {
    {"blk.*.attn_norm", "model.layers.*.input_layernorm"},
    {"blk.*.post_attention_norm", "model.layers.*.post_attention_layernorm"},
    {"blk.*.ffn_norm", "model.layers.*.pre_feedforward_layernorm"},
    {"blk.*.post_ffw_norm", "model.layers.*.post_feedforward_layernorm"},
};

/// Scores are divided by the root of a number that few files have a key for: the
/// channels of a query, but for models of `layers` layers, whose number is the
/// width over the heads (27B of both generations).
static void describeScale(GgufConfig &config, int64_t layers) {
  std::string key = config.keyOf("attention.scale");
  if (auto scale = config.getKeys().getNumber(key, 1e-4, 1e3))
    return config.setNumber("query_pre_attn_scalar", 1 / (*scale * *scale),
                            key);
  bool isLargest = config.getLayers() == layers;
  config.setNumber(
      "query_pre_attn_scalar",
      double(isLargest ? config.getWidth() / config.getHeads()
                       : config.getHeadWidth()),
      config.keyOf(isLargest ? "block_count" : "attention.key_length"));
}

static void describeGemma2(GgufConfig &config) {
  describeHeads(config);
  describeRotary(config);
  describeScale(config, 46);
}

static void describeGemma3(GgufConfig &config) {
  describeHeads(config);
  describeRotary(config);
  describeScale(config, 62);
  describeWindowPattern(config, 6);
  config.setNumber("rope_local_base_freq", 1e4,
                   config.keyOf("rope.freq_base_swa"));
  config.copy({"rope.freq_base_swa", "rope_local_base_freq", Kind::Number});
}

//===----------------------------------------------------------------------===//
// Gemma 4
//===----------------------------------------------------------------------===//

static constexpr GgufKeyRow kGemma4Keys[] = {
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads", Kind::SameInEachLayer},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", Kind::Number},
    {"final_logit_softcapping", "final_logit_softcapping", Kind::Number},
};
static constexpr GgufTensorRow kGemma4Tensors[] = {
    {"per_layer_token_embd", "model.embed_tokens_per_layer"},
    {"per_layer_model_proj", "model.per_layer_model_projection"},
    {"per_layer_proj_norm", "model.per_layer_projection_norm"},
    {"blk.*.inp_gate", "model.layers.*.per_layer_input_gate"},
    {"blk.*.proj", "model.layers.*.per_layer_projection"},
    {"blk.*.post_norm", "model.layers.*.post_per_layer_input_norm"},
    {"blk.*.layer_output_scale.weight", "model.layers.*.layer_scalar"},
    {"blk.*.post_ffw_norm_1", "model.layers.*.post_feedforward_layernorm_1"},
    {"blk.*.post_ffw_norm_2", "model.layers.*.post_feedforward_layernorm_2"},
    {"blk.*.pre_ffw_norm_2", "model.layers.*.pre_feedforward_layernorm_2"},
    {"blk.*.ffn_gate_inp", "model.layers.*.router.proj"},
    {"blk.*.ffn_gate_inp.scale", "model.layers.*.router.scale"},
    {"blk.*.ffn_gate_exps", "model.layers.*.experts.#.gate_proj"},
    {"blk.*.ffn_up_exps", "model.layers.*.experts.#.up_proj"},
    {"blk.*.ffn_down_exps", "model.layers.*.experts.#.down_proj"},
    // The factor of each expert; of NVFP4 files times that of its matrix, which
    // is the same to the model.
    {"blk.*.ffn_down_exps.scale", "model.layers.*.router.per_expert_scale"},
};

static constexpr int64_t kMost = int64_t(1) << 20;

/// Which layers have the window, and the layers at the end that read others' keys.
/// Returns the former, with false for all where there is a problem.
static std::vector<bool> describeGemma4Layers(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  int64_t layers = config.getLayers();
  std::vector<bool> slides(size_t(layers), false);
  std::string kindsKey = config.keyOf("attention.sliding_window_pattern"),
              windowKey = config.keyOf("attention.sliding_window"),
              sharedKey = config.keyOf("attention.shared_kv_layers");
  if (!keys.has(kindsKey))
    keys.report("lacks key " + quote(kindsKey));
  if (auto listed = keys.getBooleans(
          kindsKey, uint64_t(layers + config.getFurtherLayers())))
    slides.assign(listed->begin(), listed->begin() + layers);
  std::vector<llvm::StringRef> kinds;
  for (bool slide : slides)
    kinds.push_back(slide ? "sliding_attention" : "full_attention");
  config.setTexts("layer_types", kinds, kindsKey);
  config.setInteger("sliding_window",
                    keys.requireInteger(windowKey, 1, int64_t(1) << 30),
                    windowKey);
  config.setInteger("num_kv_shared_layers",
                    keys.getInteger(sharedKey, 0, layers).value_or(0),
                    sharedKey);
  return slides;
}

/// Channels of a query, which are those of a value.
static int64_t readGemma4Heads(GgufConfig &config, llvm::StringRef kind) {
  GgufMetadata &keys = config.getKeys();
  std::string key = config.keyOf(("attention.key_length" + kind).str()),
              valueKey = config.keyOf(("attention.value_length" + kind).str());
  int64_t width = keys.requireInteger(key, 1, kMost);
  keys.getInteger(valueKey, width, width);
  return width;
}

/// Layers with a window have heads of one kind, the others of another.
static void describeGemma4Heads(GgufConfig &config,
                                llvm::ArrayRef<bool> slides) {
  GgufMetadata &keys = config.getKeys();
  std::string headsKey = config.keyOf("attention.head_count_kv"),
              wholeKey = config.keyOf("attention.key_length"),
              localKey = config.keyOf("attention.key_length_swa");
  int64_t whole = readGemma4Heads(config, ""),
          local = readGemma4Heads(config, "_swa"), localHeads = 0;
  GgufConfig each = config.startInner();
  for (auto [layer, slide, heads] :
       llvm::enumerate(slides, config.getKeyHeads())) {
    if (!slide) {
      GgufConfig own = config.startInner();
      own.setInteger("head_dim", whole);
      own.setInteger("num_key_value_heads", heads);
      each.setObject(std::to_string(layer), std::move(own));
    } else if (localHeads == 0) {
      localHeads = heads;
    } else if (heads != localHeads) {
      keys.report("expects " + quote(headsKey) +
                  " to be the same for each layer with a window, but got " +
                  llvm::Twine(localHeads) + " and " + llvm::Twine(heads));
    }
  }
  config.setObject("per_layer_config", std::move(each));
  config.setInteger("head_dim", local, localKey);
  config.setInteger("global_head_dim", whole, wholeKey);
  config.setInteger("num_key_value_heads", std::max<int64_t>(localHeads, 1),
                    headsKey);
}

/// The first layer that reads another's keys; none: their number.
static int64_t firstSharedOf(GgufConfig &config) {
  std::string key = config.keyOf("attention.shared_kv_layers");
  int64_t layers = config.getLayers();
  return layers - config.getKeys().getInteger(key, 0, layers).value_or(0);
}

/// Values of layers that see all keys are their keys where the file has none.
static void describeGemma4Values(GgufConfig &config,
                                 llvm::ArrayRef<bool> slides) {
  int64_t own = firstSharedOf(config);
  bool areKeys = false;
  for (int64_t layer = 0; layer < own; ++layer)
    areKeys |= !slides[size_t(layer)] &&
               !config.getModel().find(
                   ("blk." + llvm::Twine(layer) + ".attn_v.weight").str());
  config.setBoolean("attention_k_eq_v", areKeys, "blk.*.attn_v.weight");
}

/// Of layers that see all keys a tensor has the divisors of frequencies: those that
/// do not turn have 1e30. Of the others a share of the channels may turn.
static void describeGemma4Rotary(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  GgufConfig both = config.startInner(), whole = config.startInner(),
             local = config.startInner();
  whole.setNumber("rope_theta", 1e4, config.keyOf("rope.freq_base"));
  whole.copy({"rope.freq_base", "rope_theta", Kind::Number});
  int64_t channels = readGemma4Heads(config, ""),
          localChannels = readGemma4Heads(config, "_swa");
  keys.getInteger(config.keyOf("rope.dimension_count"), channels, channels);
  if (!config.getModel().find("rope_freqs.weight"))
    keys.report("lacks tensor 'rope_freqs.weight'");
  describeRotaryFactors(config, whole);
  local.setText("rope_type", "default");
  local.setNumber("rope_theta", 1e4, config.keyOf("rope.freq_base_swa"));
  local.copy({"rope.freq_base_swa", "rope_theta", Kind::Number});
  std::string turnedKey = config.keyOf("rope.dimension_count_swa");
  if (auto turned = keys.getInteger(turnedKey, 1, localChannels);
      turned && *turned != localChannels)
    local.setNumber("partial_rotary_factor",
                    double(*turned) / double(localChannels), turnedKey);
  both.setObject("full_attention", std::move(whole));
  both.setObject("sliding_attention", std::move(local));
  config.setObject("rope_parameters", std::move(both));
}

/// MLPs of layers that read others' keys may be twice as wide.
static void describeGemma4Mlps(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string key = config.keyOf("feed_forward_length");
  auto units = config.getForEachLayer("feed_forward_length", 1, kMost);
  if (!units)
    return;
  int64_t layers = config.getLayers(), own = firstSharedOf(config),
          first = units->front();
  bool isDouble = units->back() == 2 * first;
  for (int64_t layer = 0; layer < layers; ++layer) {
    int64_t expected = isDouble && layer >= own ? 2 * first : first;
    if (int64_t found = (*units)[size_t(layer)]; found != expected) {
      keys.report("expects " + quote(key) + " to be " + llvm::Twine(expected) +
                  " for layer " + llvm::Twine(layer) + ", but got " +
                  llvm::Twine(found));
      break;
    }
  }
  config.setInteger("intermediate_size", first, key);
  config.setBoolean("use_double_wide_mlp", isDouble, key);
}

static void describeGemma4Experts(GgufConfig &config) {
  bool isThere = anyLayerHas(config, "ffn_gate_inp.weight");
  config.setBoolean("enable_moe_block", isThere, "blk.*.ffn_gate_inp.weight");
  if (isThere) {
    config.copy({"expert_count", "num_experts"});
    config.copy({"expert_used_count", "top_k_experts"});
    config.copy({"expert_feed_forward_length", "moe_intermediate_size"});
  } else {
    config.getKeys().ignore({config.keyOf("expert_count"),
                             config.keyOf("expert_used_count"),
                             config.keyOf("expert_feed_forward_length")});
  }
}

/// Norms' weights are as the family has them.
static void describeGemma4(GgufConfig &config) {
  std::vector<bool> listed = describeGemma4Layers(config);
  llvm::SmallVector<bool> slides(listed.begin(), listed.end());
  describeGemma4Heads(config, slides);
  describeGemma4Values(config, slides);
  describeGemma4Rotary(config);
  describeGemma4Mlps(config);
  describeGemma4Experts(config);
  describeBias(config, "attention_bias", "attn_q.bias");
  std::string inputKey = config.keyOf("embedding_length_per_layer_input");
  config.setInteger("hidden_size_per_layer_input",
                    config.getKeys().requireInteger(inputKey, 0, kMost),
                    inputKey);
  constexpr llvm::StringLiteral kTable = "per_layer_token_embd.weight";
  if (const TensorEntry *table = config.getModel().find(kTable))
    config.setInteger("vocab_size_per_layer_input",
                      int64_t(table->shape.front()), kTable);
}

//===----------------------------------------------------------------------===//

static constexpr llvm::ArrayRef<GgufKeyRow> kKeys[] = {kDecoderKeys, kOfGemma},
                                            kKeysOf4[] = {kGemma4Keys};
static constexpr llvm::ArrayRef<GgufTensorRow>
    kTensors[] = {kOuterTensors, kAttentionTensors, kMlpTensors, kNorms},
    kTensorsOf4[] = {kOuterTensors, kAttentionTensors, kMlpTensors, kNorms,
                     kGemma4Tensors};

static constexpr GgufArchitecture kArchitectures[] = {
    {"gemma2", "gemma2", kKeys, kTensors, describeGemma2, /*wholeNorms=*/true},
    {"gemma3", "gemma3_text", kKeys, kTensors, describeGemma3,
     /*wholeNorms=*/true},
    {"gemma4", "gemma4_text", kKeysOf4, kTensorsOf4, describeGemma4},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kGemmaArchitectures =
    kArchitectures;
