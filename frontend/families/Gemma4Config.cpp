#include "frontend/families/Gemma4Config.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/LayerPattern.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;

int64_t Gemma4Config::ownerOf(int64_t layer) const {
  int64_t owner = isShared(layer) ? firstShared - 1 : layer;
  while (owner > 0 && slides[size_t(owner)] != slides[size_t(layer)])
    --owner;
  return owner;
}

static void checkHeads(ConfigReader &reader, const AttentionConfig &attention,
                       llvm::StringRef key) {
  if (!reader.hasProblem() && attention.heads % attention.keyHeads != 0)
    reader.report("expects 'num_attention_heads' to be a multiple of " +
                  quote(key) + " " + Twine(attention.keyHeads) + ", but got " +
                  Twine(attention.heads));
}

/// The heads of layers that see all keys as the public library saves them: an
/// object for each of these layers, under its number, with the numbers that are not
/// those of the other layers. A layer with none has no object.
static void readLayerHeads(ConfigReader &reader, const JsonObject &layers,
                           Gemma4Config &config) {
  const AttentionConfig &local = config.decoder.attention;
  size_t named = 0;
  std::optional<AttentionConfig> first;
  for (size_t layer = 0; layer < config.slides.size(); ++layer) {
    if (config.slides[layer] == 1)
      continue;
    std::string name = std::to_string(layer);
    AttentionConfig own = local;
    if (const JsonValue *value = layers.find(name)) {
      ++named;
      const JsonObject *object = value->getObject();
      if (!object)
        return reader.report("expects 'per_layer_config' to have an object " +
                             quote(name));
      ConfigReader inner(reader, "per_layer_config." + name, *object);
      own.keys = inner.getInteger("head_dim", 1, kMostDimension, own.keys);
      own.keyHeads = inner.getInteger("num_key_value_heads", 1, kMostDimension,
                                      own.keyHeads);
      reader.finishInner(inner);
    }
    if (first && !reader.hasProblem() &&
        (own.keys != first->keys || own.keyHeads != first->keyHeads))
      return reader.report(
          "expects the heads of all layers of full_attention in "
          "'per_layer_config' to be alike, but got others in " +
          quote(name));
    first = config.whole = own;
  }
  if (named != layers.getMembers().size())
    reader.report("expects 'per_layer_config' to name layers of full_attention "
                  "alone, but got " +
                  Twine(layers.getMembers().size() - named) + " others");
}

static void readHeads(ConfigReader &reader, Gemma4Config &config) {
  AttentionConfig &local = config.decoder.attention;
  local.heads = reader.getInteger("num_attention_heads", 1, kMostDimension, 8);
  local.keyHeads =
      reader.getInteger("num_key_value_heads", 1, kMostDimension, 4);
  local.keys = reader.getInteger("head_dim", 1, kMostDimension, 256);
  local.scale = 1;
  local.headNorm = config.decoder.norm;
  local.inputBias = local.outputBias =
      reader.getBoolean("attention_bias", false);
  checkHeads(reader, local, "num_key_value_heads");
  config.valuesAreKeys = reader.getBoolean("attention_k_eq_v", false);
  config.whole = local;
  config.whole.keys =
      reader.getInteger("global_head_dim", 1, kMostDimension, 512);
  constexpr llvm::StringLiteral kHeads = "num_global_key_value_heads";
  int64_t keyHeads = reader.getIntegerIfSet(kHeads, 1, kMostDimension)
                         .value_or(local.keyHeads);
  if (config.valuesAreKeys) // as the public library
    config.whole.keyHeads = keyHeads;
  if (const JsonObject *layers = reader.getObjectIfSet("per_layer_config"))
    readLayerHeads(reader, *layers, config);
  checkHeads(reader, config.whole, kHeads);
}

static void readKinds(ConfigReader &reader, FamilyInput &input,
                      Gemma4Config &config) {
  auto layers = int64_t(config.decoder.layers.size());
  config.slides = readLayerPattern(
      reader, "layer_types", layers, {"full_attention", "sliding_attention"},
      [](int64_t layer) -> unsigned { return (layer + 1) % 6 != 0; });
  if (config.slides.back() == 1)
    input.remarks.push_back("config.json: the last layer sees all keys, "
                            "whatever 'layer_types' says of it");
  config.slides.back() = 0;
  int64_t shared = reader.getInteger("num_kv_shared_layers", 0, kMostLayers, 0);
  config.firstShared = layers - shared;
  auto own = llvm::ArrayRef(config.slides)
                 .take_front(size_t(std::max<int64_t>(config.firstShared, 0)));
  for (unsigned kind : {0u, 1u})
    if (!reader.hasProblem() && llvm::is_contained(config.slides, kind) &&
        !llvm::is_contained(own, kind))
      reader.report("expects 'num_kv_shared_layers' to leave a layer of " +
                    Twine(kind == 0 ? "full_attention" : "sliding_attention") +
                    " with keys of its own, but got " + Twine(shared));
}

static void readPositions(ConfigReader &reader, FamilyInput &input,
                          Gemma4Config &config) {
  DecoderConfig &decoder = config.decoder;
  int64_t window = reader.getInteger("sliding_window", 1, kMostContext, 512);
  RotaryRequest whole{config.whole.keys, decoder.context};
  whole.theta = 1e6;
  whole.layerType = "full_attention";
  whole.otherwise =
      R"({"rope_type": "proportional", "partial_rotary_factor": 0.25})";
  RotaryRequest local{decoder.attention.keys, decoder.context};
  local.layerType = "sliding_attention";
  RotaryConfig rotaries[] = {readRotary(reader, input, whole),
                             readRotary(reader, input, local)};
  for (auto [layer, kind] : llvm::zip_equal(decoder.layers, config.slides)) {
    layer.rotary = rotaries[kind];
    if (kind == 1) {
      layer.window = window;
      layer.frequencies = "local_frequencies";
    }
  }
}

static void readExpertsBeside(ConfigReader &reader, DecoderConfig &decoder) {
  bool isThere = reader.getBoolean("enable_moe_block", false);
  std::optional<int64_t> count =
      reader.getIntegerIfSet("num_experts", 1, kMostExperts);
  std::optional<int64_t> taken =
      reader.getIntegerIfSet("top_k_experts", 1, kMostExperts);
  std::optional<int64_t> hidden =
      reader.getIntegerIfSet("moe_intermediate_size", 1, kMostDimension);
  if (!isThere)
    return;
  if (!count || !taken || !hidden)
    return reader.report(Twine("lacks ") + (!count ? "'num_experts'"
                                            : !taken
                                                ? "'top_k_experts'"
                                                : "'moe_intermediate_size'"));
  if (*taken > *count)
    return reader.report("expects 'top_k_experts' up to 'num_experts' " +
                         Twine(*count) + ", but got " + Twine(*taken));
  ExpertsConfig experts;
  experts.experts = *count;
  experts.taken = *taken;
  experts.hidden = *hidden;
  experts.activation = decoder.mlp.activation;
  decoder.experts = experts;
}

Gemma4Config effc::frontend::readGemma4(ConfigReader &reader,
                                        FamilyInput &input) {
  Gemma4Config config;
  DecoderConfig &decoder = config.decoder;
  decoder.family = "gemma4";
  decoder.vocabulary = input.vocabulary;
  decoder.width = reader.getInteger("hidden_size", 1, kMostDimension, 2304);
  decoder.layers.resize(
      reader.getInteger("num_hidden_layers", 1, kMostLayers, 30));
  decoder.mlp.hidden =
      reader.getInteger("intermediate_size", 1, kMostDimension, 9216);
  decoder.mlp.activation =
      readActivation(reader, "hidden_activation", seq::Nonlinearity::GeluTanh);
  decoder.context =
      reader.getInteger("max_position_embeddings", 1, kMostContext, 131072);
  decoder.norm.epsilon = reader.getNumber("rms_norm_eps", 0, 1, 1e-6);
  decoder.head.tied = reader.getBoolean("tie_word_embeddings", true);
  decoder.embeddingScale = std::sqrt(double(decoder.width));
  decoder.logitCap =
      reader.getNumberIfSet("final_logit_softcapping", 1e-6, 1e9);
  readKinds(reader, input, config);
  readHeads(reader, config);
  if (!reader.hasProblem())
    readPositions(reader, input, config);
  readExpertsBeside(reader, decoder);
  config.doubleWide = reader.getBoolean("use_double_wide_mlp", false);
  config.layerInput =
      reader.getIntegerIfSet("hidden_size_per_layer_input", 0, kMostDimension)
          .value_or(256);
  if (reader.get("hidden_size_per_layer_input") &&
      !reader.isSet("hidden_size_per_layer_input"))
    config.layerInput = 0; // null
  config.layerVocabulary = reader.getInteger("vocab_size_per_layer_input", 1,
                                             kMostDimension * 16, 262144);
  if (!reader.hasProblem() && config.layerInput > 0 &&
      config.layerVocabulary < decoder.vocabulary)
    reader.report("expects 'vocab_size_per_layer_input' of at least "
                  "'vocab_size' " +
                  Twine(decoder.vocabulary) + ", but got " +
                  Twine(config.layerVocabulary));
  // Pictures may see their own later parts; a text sees none.
  constexpr llvm::StringLiteral kBoth = "use_bidirectional_attention";
  const std::string *both =
      reader.isSet(kBoth) ? reader.getString(kBoth) : nullptr;
  if (both && *both != "vision")
    reader.reportMismatch(kBoth, "vision or null", *reader.get(kBoth));
  ignoreHarmless(reader, input.remarks);
  return config;
}
