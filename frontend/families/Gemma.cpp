#include "frontend/families/Gemma.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

/// What both generations share but for the rotations.
static DecoderConfig readGemma(ConfigReader &reader, FamilyInput &input,
                               double cap, double logitCap) {
  // Configurations of release 4 leave out what is a default.
  DecoderConfig config;
  config.vocabulary = input.vocabulary;
  config.width = reader.getInteger("hidden_size", 1, kMostDimension, 2304);
  config.layers.resize(
      reader.getInteger("num_hidden_layers", 1, kMostLayers, 26));
  config.mlp.hidden =
      reader.getInteger("intermediate_size", 1, kMostDimension, 9216);
  config.attention.heads =
      reader.getInteger("num_attention_heads", 1, kMostDimension, 8);
  config.attention.keyHeads =
      reader.getInteger("num_key_value_heads", 1, kMostDimension, 4);
  config.attention.keys = reader.getInteger("head_dim", 1, kMostDimension, 256);
  if (config.attention.heads % config.attention.keyHeads != 0)
    reader.report("expects 'num_attention_heads' to be a multiple of "
                  "'num_key_value_heads' " +
                  llvm::Twine(config.attention.keyHeads) + ", but got " +
                  llvm::Twine(config.attention.heads));
  config.norm.epsilon = reader.getNumber("rms_norm_eps", 0, 1, 1e-6);
  config.norm.unitOffset = !input.stored.wholeNorms;
  config.norms = NormPlaces::Both;
  config.head.tied = reader.getBoolean("tie_word_embeddings", true);
  config.embeddingScale = std::sqrt(double(config.width));
  config.attention.scale =
      1 / std::sqrt(reader.getNumber("query_pre_attn_scalar", 1e-6, 1e9, 256));
  bool bias = reader.getBoolean("attention_bias", false);
  config.attention.inputBias = config.attention.outputBias = bias;
  config.mlp.activation =
      readActivation(reader, "hidden_activation", seq::Nonlinearity::GeluTanh);
  auto readCap = [&](llvm::StringRef key, double otherwise) {
    std::optional<double> most = reader.getNumberIfSet(key, 1e-6, 1e9);
    if (!reader.get(key) && otherwise > 0)
      most = otherwise;
    return most;
  };
  config.attention.softCap = readCap("attn_logit_softcapping", cap);
  config.logitCap = readCap("final_logit_softcapping", logitCap);
  if (reader.isSet("use_bidirectional_attention") &&
      reader.getBoolean("use_bidirectional_attention", false))
    reader.report("expects 'use_bidirectional_attention' to be false, but got "
                  "true");
  // Release 4 wrote the activation under a name that it did not read.
  ignoreHarmless(reader, input.remarks, {"hidden_act", "cache_implementation"});
  return config;
}

static std::vector<unsigned>
readWindows(ConfigReader &reader, DecoderConfig &config, int64_t period) {
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(4096);
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", int64_t(config.layers.size()),
      {"full_attention", "sliding_attention"},
      [&](int64_t layer) -> unsigned { return (layer + 1) % period != 0; });
  for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds))
    layer.window = kind == 1 ? window : 0;
  return kinds;
}

Module effc::frontend::importGemma2(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DecoderConfig config = readGemma(reader, input, 50, 30);
  config.family = "gemma2";
  config.context =
      reader.getInteger("max_position_embeddings", 1, kMostContext, 8192);
  readWindows(reader, config, /*period=*/2);
  RotaryConfig rotary =
      readRotary(reader, input, {config.attention.keys, config.context});
  for (LayerAttention &layer : config.layers)
    layer.rotary = rotary;
  if (llvm::Error error = reader.finish())
    return error;
  return buildDecoder(config, input);
}

static Module importText(ConfigReader &reader, FamilyInput &input,
                         llvm::ArrayRef<llvm::StringRef> prefixes) {
  DecoderConfig config = readGemma(reader, input, 0, 0);
  config.family = "gemma3";
  config.context =
      reader.getInteger("max_position_embeddings", 1, kMostContext, 131072);
  config.attention.headNorm = config.norm;
  // The public implementation writes the key and does not read it: nobody can
  // tell what is meant.
  if (config.attention.softCap)
    reader.report("expects 'attn_logit_softcapping' to be null, but got " +
                  describeNumber(*config.attention.softCap));
  int64_t period = reader.getInteger(
      "sliding_window_pattern", 1, kMostLayers,
      reader.getInteger("_sliding_window_pattern", 1, kMostLayers, 6));
  std::vector<unsigned> kinds = readWindows(reader, config, period);
  // Windows turn by a theta of their own, without the scaling.
  RotaryRequest whole{config.attention.keys, config.context};
  whole.theta = 1e6;
  whole.layerType = "full_attention";
  RotaryRequest local = whole;
  local.theta = 1e4;
  local.layerType = "sliding_attention";
  local.thetaKey = "rope_local_base_freq";
  local.scaled = false;
  RotaryConfig rotaries[] = {readRotary(reader, input, whole),
                             readRotary(reader, input, local)};
  for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds)) {
    layer.rotary = rotaries[kind];
    if (kind == 1)
      layer.frequencies = "local_frequencies";
  }
  if (llvm::Error error = reader.finish())
    return error;
  config.prefix =
      findPrefix(input, prefixes, {"embed_tokens.weight", "norm.weight"});
  // Beside a part that sees, release 4 named the text's head after the text.
  constexpr llvm::StringLiteral kInner = "language_model.lm_head.weight";
  if (input.checkpoint.has(kInner))
    config.head.head = kInner;
  return buildDecoder(config, input);
}

Module effc::frontend::importGemma3Text(FamilyInput &input) {
  return importText(input.config, input, {"model."});
}

int64_t effc::frontend::readGemma3Vocabulary(ConfigReader &config,
                                             int64_t most) {
  const JsonObject *text = config.getObjectIfSet("text_config");
  if (!text) {
    config.report("lacks 'text_config'");
    return 1;
  }
  ConfigReader reader(config, "text_config", *text, /*isWhole=*/true);
  int64_t rows = reader.getInteger("vocab_size", 1, most, 262208);
  if (reader.hasProblem())
    config.finishInner(reader);
  return rows;
}

Module effc::frontend::importGemma3(FamilyInput &input) {
  ConfigReader &outer = input.config;
  // Parts that take no text, and keys that the text's object hides.
  outer.ignore({"vision_config", "mm_tokens_per_image", "boi_token_index",
                "eoi_token_index", "image_token_index", "boi_token_id",
                "eoi_token_id", "image_token_id", "initializer_range",
                "tie_word_embeddings"});
  ConfigReader text(outer, "text_config", *outer.getObjectIfSet("text_config"),
                    /*isWhole=*/true);
  ignoreOuterKeys(text, input.remarks);
  if (llvm::Error error = outer.finish())
    return error;
  leaveAside(input, {},
             {"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
              "model.multi_modal_projector."});
  return importText(
      text, input,
      {"model.language_model.", "language_model.model.", "model."});
}
