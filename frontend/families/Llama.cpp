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
  /// Of positions: what stands where the object is missing, and the growth of
  /// queries (RotaryRequest).
  llvm::StringRef rotaryOtherwise = "", queryScaleKey = "";
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

static DecoderConfig read(ConfigReader &reader, FamilyInput &input,
                          const Flavour &flavour) {
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
  request.otherwise = flavour.rotaryOtherwise;
  request.queryScaleKey = flavour.queryScaleKey;
  if (!flavour.queryScaleKey.empty())
    request.harmless = {"max_position_embeddings"};
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

static DecoderConfig read(FamilyInput &input, const Flavour &flavour) {
  return read(input.config, input, flavour);
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

static Flavour mistral() {
  Flavour flavour{"mistral"};
  flavour.slidesEverywhere = true;
  return flavour;
}

Module effc::frontend::importMistral(FamilyInput &input) {
  return import(input, mistral());
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
  config.experts = readLocalExperts(reader, config.mlp.hidden, 2);
  config.experts->activation = config.mlp.activation;
  config.feedForward = "block_sparse_moe.";
  input.names =
      HeldNames(input.checkpoint, {{".block_sparse_moe.", ".mlp."}}, {".mlp."});
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

/// `layer_rope_theta`, a theta for each layer, or 0 where none of its channels
/// turn; `rotary` is what the other keys say.
static void readThetas(ConfigReader &reader, FamilyInput &input,
                       DecoderConfig &config) {
  constexpr llvm::StringLiteral kKey = "layer_rope_theta";
  if (!reader.isSet(kKey))
    return;
  const JsonArray *list = reader.get(kKey)->getArray();
  if (!list)
    return reader.reportMismatch(kKey, "an array of numbers",
                                 *reader.get(kKey));
  if (list->size() != config.layers.size())
    return reader.report("expects " + quote(kKey) + " to have " +
                         llvm::Twine(config.layers.size()) +
                         " numbers, one for each layer, but got " +
                         llvm::Twine(list->size()));
  std::vector<double> thetas; // that differ
  for (auto [layer, value] : llvm::zip_equal(config.layers, *list)) {
    std::optional<double> theta = value.getNumber();
    if (!theta || !(*theta >= 0) || *theta > 1e15)
      return reader.reportMismatch(kKey, "numbers from 0 to 1e15", value);
    if (*theta == 0) {
      layer.rotary = {};
      continue;
    }
    auto known = llvm::find(thetas, *theta);
    size_t number = size_t(known - thetas.begin());
    if (known == thetas.end())
      thetas.push_back(*theta);
    RotaryRequest request{config.attention.keys, config.context};
    request.thetaInstead = theta;
    layer.rotary = readRotary(reader, input, request);
    if (number > 0)
      layer.frequencies = "frequencies." + std::to_string(number);
  }
}

Module effc::frontend::importGraniteSwa(FamilyInput &input) {
  Flavour flavour{"granite_swa"};
  flavour.biasKeys = flavour.factorKeys = flavour.tied = true;
  flavour.epsilon = 1e-5;
  DecoderConfig config = read(input, flavour);
  ConfigReader &reader = input.config;
  config.attention.sinkLogits = true;
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  if (!reader.get("sliding_window"))
    window = 128;
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", int64_t(config.layers.size()),
      {"full_attention", "sliding_attention"},
      [](int64_t layer) -> unsigned { return layer % 4 != 0; });
  for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds))
    layer.window = kind == 1 ? window : 0;
  readThetas(reader, input, config);
  return build(input, config);
}

static Flavour ministral3() {
  Flavour flavour{"ministral3"};
  flavour.slidesEverywhere = true;
  flavour.epsilon = 1e-5;
  flavour.queryScaleKey = "llama_4_scaling_beta";
  flavour.rotaryOtherwise =
      R"({"rope_type": "yarn", "rope_theta": 1e6, "factor": 16,
          "original_max_position_embeddings": 16384, "mscale_all_dim": 1,
          "mscale": 1, "llama_4_scaling_beta": 0.1})";
  return flavour;
}

Module effc::frontend::importMinistral3(FamilyInput &input) {
  return import(input, ministral3());
}

Module effc::frontend::importMistral3(FamilyInput &input) {
  ConfigReader &outer = input.config;
  outer.ignore({"vision_config"});
  ignoreHarmless(outer, input.remarks,
                 {"image_token_id", "image_token_index", "projector_hidden_act",
                  "multimodal_projector_bias", "spatial_merge_size",
                  "vision_feature_layer"});
  std::optional<bool> tied;
  if (outer.isSet("tie_word_embeddings"))
    tied = outer.getBoolean("tie_word_embeddings", false);
  ConfigReader text(outer, "text_config", *outer.getObjectIfSet("text_config"),
                    /*isWhole=*/true);
  const std::string *type =
      text.isSet("model_type") ? text.getString("model_type") : nullptr;
  bool isMinistral = type && *type == "ministral3";
  if (type && !isMinistral && *type != "mistral")
    text.reportMismatch("model_type", "mistral or ministral3",
                        *text.get("model_type"));
  ignoreOuterKeys(text, input.remarks);
  if (llvm::Error error = outer.finish())
    return error;
  DecoderConfig config =
      read(text, input, isMinistral ? ministral3() : mistral());
  config.head.tied = tied.value_or(config.head.tied);
  if (llvm::Error error = text.finish())
    return error;
  config.prefix = findPrefix(
      input, {"language_model.model.", "model.language_model.", "model."},
      {"embed_tokens.weight", "norm.weight"});
  if (config.prefix == "language_model.model." &&
      !input.checkpoint.has(config.head.head))
    config.head.head = "language_model.lm_head.weight";
  leaveAside(input, {},
             {"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
              "model.multi_modal_projector."});
  return buildDecoder(config, input);
}
