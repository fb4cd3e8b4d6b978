#include "frontend/families/Llama.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;

namespace {

/// What sets one of these models apart.
struct Flavour {
  llvm::StringRef family;
  /// Biases as the keys `attention_bias` and `mlp_bias` say.
  bool biasKeys = false;
  /// A bias for queries, keys and values, none for the output.
  bool inputBias = false;
  /// A norm of each query and key.
  bool headNorm = false;
  bool fused = false;
  /// `sliding_window` holds for all layers; else `layer_types` says for which.
  bool slidesEverywhere = false;
  bool slidesByLayer = false;
  bool unusedOfPhi = false;
  double epsilon = 1e-6;
};

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

} // namespace

/// The layers that have a window: those from `max_window_layers` on, where
/// `use_sliding_window` says so and no list does.
static void readLayerWindows(ConfigReader &reader, DecoderConfig &config) {
  bool slides = reader.getBoolean("use_sliding_window", false);
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  int64_t first = reader.getInteger("max_window_layers", 0, kMostLayers, 28);
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", int64_t(config.layers.size()),
      {"full_attention", "sliding_attention"}, [&](int64_t layer) -> unsigned {
        return slides && window > 0 && layer >= first;
      });
  for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds))
    layer.window = kind == 1 && slides ? window : 0;
}

/// What Phi-4-mini writes and no release of the public library reads: other
/// values than its own have no meaning.
static void readUnusedOfPhi(ConfigReader &reader) {
  for (const char *key : {"attention_bias", "mlp_bias", "lm_head_bias"})
    if (reader.getBoolean(key, false))
      reader.report("expects " + quote(key) + " to be false, but got true");
  for (const char *key : {"full_attn_mod", "interpolate_factor"})
    reader.getInteger(key, 1, 1, 1);
}

static Module import(FamilyInput &input, const Flavour &flavour) {
  ConfigReader &reader = input.config;
  DecoderKeys keys;
  keys.epsilonOtherwise = flavour.epsilon;
  DecoderConfig config =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false, keys);
  config.family = flavour.family;
  config.fused = flavour.fused;
  config.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  if (flavour.biasKeys) {
    bool bias = reader.getBoolean("attention_bias", false);
    config.attention.inputBias = config.attention.outputBias = bias;
    config.mlp.bias = reader.getBoolean("mlp_bias", false);
  }
  if (flavour.unusedOfPhi)
    readUnusedOfPhi(reader);
  if (flavour.inputBias)
    config.attention.inputBias = true;
  if (flavour.headNorm)
    config.attention.headNorm = config.norm;
  if (flavour.slidesByLayer)
    readLayerWindows(reader, config);
  RotaryRequest request{config.attention.keys, config.context};
  RotaryConfig rotary = readRotary(reader, input, request);
  for (LayerAttention &layer : config.layers)
    layer.rotary = rotary;
  if (flavour.slidesEverywhere)
    for (LayerAttention &layer : config.layers)
      layer.window =
          reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  ignoreHarmless(reader, input.remarks,
                 {"resid_pdrop", "embd_pdrop",
                  // It is no part of the mathematics: a limit of that library.
                  "original_max_position_embeddings"});
  if (llvm::Error error = reader.finish())
    return error;
  return buildDecoder(config, input);
}

Module effc::frontend::importLlama(FamilyInput &input) {
  Flavour flavour{"llama"};
  flavour.biasKeys = true;
  return import(input, flavour);
}

Module effc::frontend::importMistral(FamilyInput &input) {
  Flavour flavour{"mistral"};
  flavour.slidesEverywhere = true;
  return import(input, flavour);
}

Module effc::frontend::importQwen2(FamilyInput &input) {
  Flavour flavour{"qwen2"};
  flavour.inputBias = flavour.slidesByLayer = true;
  return import(input, flavour);
}

Module effc::frontend::importQwen3(FamilyInput &input) {
  Flavour flavour{"qwen3"};
  flavour.biasKeys = flavour.headNorm = flavour.slidesByLayer = true;
  return import(input, flavour);
}

Module effc::frontend::importPhi3(FamilyInput &input) {
  Flavour flavour{"phi3"};
  flavour.fused = flavour.slidesEverywhere = flavour.unusedOfPhi = true;
  flavour.epsilon = 1e-5;
  return import(input, flavour);
}
