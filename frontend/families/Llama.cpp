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
  /// `embedding_multiplier` and the like.
  bool factorKeys = false;
  double epsilon = 1e-6, theta = 1e4;
  bool tied = false;
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

/// Factors of muP, of which attention's is the scale itself.
static void readFactors(ConfigReader &reader, DecoderConfig &config) {
  config.attention.scale = readFactor(reader, "attention_multiplier");
  config.embeddingScale = readFactor(reader, "embedding_multiplier");
  config.residualScale = readFactor(reader, "residual_multiplier");
  config.logitScale = 1 / readFactor(reader, "logits_scaling");
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

static DecoderConfig read(FamilyInput &input, const Flavour &flavour) {
  ConfigReader &reader = input.config;
  DecoderKeys keys;
  keys.epsilonOtherwise = flavour.epsilon;
  DecoderConfig config =
      readDecoder(reader, input.vocabulary, flavour.tied, keys);
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
  if (flavour.factorKeys)
    readFactors(reader, config);
  RotaryRequest request{config.attention.keys, config.context};
  request.theta = flavour.theta;
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
  return config;
}

static Module build(FamilyInput &input, const DecoderConfig &config) {
  if (llvm::Error error = input.config.finish())
    return error;
  return buildDecoder(config, input);
}

static Module import(FamilyInput &input, const Flavour &flavour) {
  return build(input, read(input, flavour));
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

Module effc::frontend::importGranite(FamilyInput &input) {
  Flavour flavour{"granite"};
  flavour.biasKeys = flavour.factorKeys = true;
  return import(input, flavour);
}

Module effc::frontend::importMinistral(FamilyInput &input) {
  DecoderConfig config = read(input, {"ministral"});
  ConfigReader &reader = input.config;
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  std::vector<unsigned> kinds =
      readLayerPattern(reader, "layer_types", int64_t(config.layers.size()),
                       {"full_attention", "sliding_attention"},
                       [&](int64_t) -> unsigned { return window > 0; });
  for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds))
    layer.window = kind == 1 ? window : 0;
  return build(input, config);
}

Module effc::frontend::importMixtral(FamilyInput &input) {
  Flavour flavour{"mixtral"};
  flavour.slidesEverywhere = true;
  flavour.epsilon = 1e-5;
  flavour.theta = 1e6;
  DecoderConfig config = read(input, flavour);
  ConfigReader &reader = input.config;
  ExpertsConfig experts;
  experts.experts = reader.requireInteger("num_local_experts", 1, kMostExperts);
  experts.taken = reader.getInteger("num_experts_per_tok", 1, kMostExperts, 2);
  experts.hidden = config.mlp.hidden;
  experts.activation = config.mlp.activation;
  if (!reader.hasProblem() && experts.taken > experts.experts)
    reader.report("expects 'num_experts_per_tok' up to 'num_local_experts' " +
                  llvm::Twine(experts.experts) + ", but got " +
                  llvm::Twine(experts.taken));
  config.experts = experts;
  config.feedForward = "block_sparse_moe.";
  config.expertNames.gate = "w1";
  config.expertNames.up = "w3";
  config.expertNames.down = "w2";
  ignoreHarmless(
      reader, input.remarks,
      {"output_router_logits", "router_aux_loss_coef", "router_jitter_noise"});
  return build(input, config);
}

/// Which layers turn: `no_rope_layers` has a number for each, 0 for one that
/// does not.
static std::vector<bool> readTurningLayers(ConfigReader &reader,
                                           int64_t layers) {
  int64_t interval =
      reader.getInteger("no_rope_layer_interval", 1, kMostLayers, 4);
  std::vector<bool> turns;
  for (int64_t layer = 0; layer < layers; ++layer)
    turns.push_back((layer + 1) % interval != 0);
  constexpr llvm::StringLiteral kKey = "no_rope_layers";
  if (!reader.isSet(kKey))
    return turns;
  const JsonArray *list = reader.get(kKey)->getArray();
  if (!list) {
    reader.reportMismatch(kKey, "an array of 0 and 1", *reader.get(kKey));
    return turns;
  }
  if (int64_t(list->size()) != layers) {
    reader.report("expects " + quote(kKey) + " to have " + llvm::Twine(layers) +
                  " numbers, one for each layer, but got " +
                  llvm::Twine(list->size()));
    return turns;
  }
  for (size_t layer = 0; layer < list->size(); ++layer) {
    std::optional<int64_t> number = (*list)[layer].getInteger();
    if (!number || (*number != 0 && *number != 1))
      reader.reportMismatch(kKey, "an array of 0 and 1", (*list)[layer]);
    turns[layer] = number != 0;
  }
  return turns;
}

Module effc::frontend::importSmolLm3(FamilyInput &input) {
  Flavour flavour{"smollm3"};
  flavour.biasKeys = flavour.tied = true;
  flavour.theta = 2e6;
  DecoderConfig config = read(input, flavour);
  ConfigReader &reader = input.config;
  auto layers = int64_t(config.layers.size());
  std::vector<bool> turns = readTurningLayers(reader, layers);
  bool slides = reader.getBoolean("use_sliding_window", false);
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", layers, {"full_attention", "sliding_attention"},
      [&](int64_t layer) -> unsigned { return !turns[size_t(layer)]; });
  for (auto [layer, kind, turn] :
       llvm::zip_equal(config.layers, kinds, turns)) {
    layer.window = kind == 1 && slides ? window : 0;
    if (!turn)
      layer.rotary = {};
  }
  ignoreHarmless(reader, input.remarks, {"max_window_layers"});
  return build(input, config);
}
