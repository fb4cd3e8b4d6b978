// conversion/gemma.py and src/models/gemma*.cpp of llama.cpp.
#include "frontend/gguf/architectures/Rows.h"

using namespace effc::frontend;
using Kind = GgufKeyKind;

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

static constexpr llvm::ArrayRef<GgufKeyRow> kKeys[] = {kDecoderKeys, kOfGemma};
static constexpr llvm::ArrayRef<GgufTensorRow> kTensors[] = {
    kOuterTensors, kAttentionTensors, kMlpTensors, kNorms};

static constexpr GgufArchitecture kArchitectures[] = {
    {"gemma2", "gemma2", kKeys, kTensors, describeGemma2, /*wholeNorms=*/true},
    {"gemma3", "gemma3_text", kKeys, kTensors, describeGemma3,
     /*wholeNorms=*/true},
};
const llvm::ArrayRef<GgufArchitecture> effc::frontend::kGemmaArchitectures =
    kArchitectures;
