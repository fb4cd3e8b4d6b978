#include "frontend/families/DeepSeek.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LatentAttention.h"
#include "frontend/model/LayerPattern.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

struct DeepSeekConfig {
  DecoderConfig decoder;
  LatentConfig latent;
  /// Which layers have experts; the others have an MLP.
  std::vector<unsigned> routed;
  /// Layers behind the last, which guess further tokens.
  int64_t further = 0;
};

/// What the public library takes where a configuration says nothing.
struct DeepSeekDefaults {
  llvm::StringRef family;
  double epsilon = 1e-6, scale = 1;
  int64_t groups = 1, groupsTaken = 1, shared = 1;
  /// The first layers that have no experts, and those behind the last.
  int64_t dense = 0, further = 0;
};

} // namespace

/// Scaled positions lengthen the scores too, where the scaling says by how
/// much: yarn's temperature, squared, since it is both of queries and of keys.
static double readScoreScale(ConfigReader &reader) {
  const JsonObject *scaling = nullptr;
  for (llvm::StringRef key : {"rope_parameters", "rope_scaling"})
    if (!scaling && reader.isSet(key))
      scaling = reader.getObjectIfSet(key);
  if (!scaling)
    return 1;
  auto number = [&](llvm::StringRef key) -> double {
    const JsonValue *value = scaling->find(key);
    return value ? value->getNumber().value_or(0) : 0;
  };
  const JsonValue *kind = scaling->find("rope_type");
  if (!kind)
    kind = scaling->find("type");
  const std::string *name = kind ? kind->getString() : nullptr;
  double factor = number("factor"), all = number("mscale_all_dim");
  if (!name || *name == "default" || factor <= 1 || all == 0)
    return 1;
  double temperature = 0.1 * all * std::log(factor) + 1;
  return temperature * temperature;
}

static void readDeepSeekLatent(FamilyInput &input, DeepSeekConfig &config) {
  ConfigReader &reader = input.config;
  LatentConfig &latent = config.latent;
  latent = readLatentAttention(reader);
  // The public code makes this norm without the configuration's epsilon.
  latent.norm.epsilon = 1e-6;
  latent.bias = reader.getBoolean("attention_bias", false);
  int64_t both = latent.keys + latent.shared;
  reader.getInteger("qk_head_dim", both, both, both);
  reader.getInteger("head_dim", latent.shared, latent.shared, latent.shared);
  latent.rotary =
      readRotary(reader, input, {latent.shared, config.decoder.context});
  latent.scoreScale = readScoreScale(reader);
}

/// Keys that both have, and what they say of experts.
static DeepSeekConfig readDeepSeek(FamilyInput &input,
                                   const DeepSeekDefaults &otherwise) {
  ConfigReader &reader = input.config;
  DeepSeekConfig config;
  DecoderConfig &decoder = config.decoder;
  decoder.family = otherwise.family;
  decoder.vocabulary = input.vocabulary;
  decoder.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  decoder.layers.resize(
      size_t(reader.requireInteger("num_hidden_layers", 1, kMostLayers)));
  decoder.mlp.hidden =
      reader.requireInteger("intermediate_size", 1, kMostDimension);
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  decoder.context =
      reader.requireInteger("max_position_embeddings", 1, kMostContext);
  decoder.norm.epsilon =
      reader.getNumber("rms_norm_eps", 0, 1, otherwise.epsilon);
  decoder.head.tied = reader.getBoolean("tie_word_embeddings", false);
  readDeepSeekLatent(input, config);
  ExpertsConfig experts;
  llvm::StringRef count = reader.spelled("n_routed_experts", "num_experts");
  experts.experts = reader.requireInteger(count, 1, kMostExperts);
  experts.taken =
      reader.requireInteger("num_experts_per_tok", 1, kMostDimension);
  experts.hidden =
      reader.requireInteger("moe_intermediate_size", 1, kMostDimension);
  experts.shared =
      experts.hidden *
      reader.getInteger("n_shared_experts", 1, kMostExperts, otherwise.shared);
  experts.activation = decoder.mlp.activation;
  experts.scale =
      reader.getNumber("routed_scaling_factor", 1e-6, 1e6, otherwise.scale);
  if (!reader.hasProblem() && experts.taken > experts.experts)
    reader.report("expects 'num_experts_per_tok' up to " + quote(count) + " " +
                  Twine(experts.experts) + ", but got " + Twine(experts.taken));
  decoder.experts = experts;
  decoder.expertNames.shared = "shared_experts";
  decoder.expertNames.sharedGate = "";
  reader.getInteger("moe_layer_freq", 1, 1, 1);
  ignoreHarmless(
      reader, input.remarks,
      {"aux_loss_alpha", "ep_size", "output_router_logits", "seq_aux"});
  return config;
}

/// The first layers have no experts, or as a list says.
static void readDense(ConfigReader &reader, DeepSeekConfig &config,
                      int64_t otherwise) {
  int64_t dense =
      reader.getInteger("first_k_dense_replace", 0, kMostLayers, otherwise);
  config.routed = readLayerPattern(
      reader, "mlp_layer_types", int64_t(config.decoder.layers.size()),
      {"dense", "sparse"},
      [&](int64_t layer) -> unsigned { return layer >= dense; });
}

static Value emitDeepSeekLayer(ModelBuilder &model,
                               const DeepSeekConfig &config, int64_t layer,
                               Value x) {
  const DecoderConfig &decoder = config.decoder;
  LayerNames names(decoder, layer);
  const auto &[name, source] = names;
  auto mix = [&](Value token) {
    return emitLatentAttention(model, config.latent, name + "attention",
                               source + "self_attn.", token);
  };
  auto feed = [&](Value token) {
    std::string mlp = source + "mlp.";
    if (config.routed[size_t(layer)] == 0)
      return emitMlp(model, decoder.mlp, {name + "mlp", mlp}, token);
    ExpertsNames experts = decoder.expertNames;
    experts.name = name + "experts";
    experts.source = mlp;
    return emitExperts(model, *decoder.experts, experts, token);
  };
  return emitNormFirstLayer(model, decoder, names, "input_layernorm",
                            "post_attention_layernorm", mix, feed, x);
}

static Module build(FamilyInput &input, const DeepSeekConfig &config) {
  if (llvm::Error error = input.config.finish())
    return error;
  const DecoderConfig &decoder = config.decoder;
  auto layers = int64_t(decoder.layers.size());
  std::vector<std::string> further;
  for (int64_t layer = layers; layer < layers + config.further; ++layer)
    further.push_back(LayerNames(decoder, layer).source);
  leaveAside(
      input, {"rotary_emb.inv_freq"},
      llvm::SmallVector<llvm::StringRef>(further.begin(), further.end()));
  return buildTextModel(textModelOf(decoder, input), input,
                        [&](ModelBuilder &model, Value x) {
                          for (int64_t layer = 0; layer < layers; ++layer)
                            x = emitDeepSeekLayer(model, config, layer, x);
                          return x;
                        });
}

Module effc::frontend::importDeepSeekV2(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DeepSeekConfig config =
      readDeepSeek(input, {.family = "deepseek_v2", .shared = 2});
  readDense(reader, config, 0);
  config.latent.rotary.layout = seq::RotaryPairs::Interleaved;
  ExpertsConfig &experts = *config.decoder.experts;
  // The public library does not read it; the authors' code divides by sums.
  reader.expectAlways({"norm_topk_prob"}, false);
  experts.normalised = false;
  reader.expectString("scoring_func", "softmax");
  constexpr llvm::StringLiteral kMethod = "topk_method";
  const std::string *method =
      reader.isSet(kMethod) ? reader.getString(kMethod) : nullptr;
  bool limits = method && *method == "group_limited_greedy";
  if (method && !limits && *method != "greedy")
    reader.reportMismatch(kMethod, "greedy or group_limited_greedy",
                          *reader.get(kMethod));
  constexpr llvm::StringLiteral kGroups = "n_group", kTaken = "topk_group";
  experts.groupBest = 1;
  if (limits)
    readExpertGroups(reader, experts, kGroups, kTaken);
  else // which no other method reads
    ignoreHarmless(reader, input.remarks, {kGroups, kTaken});
  // Experts that a token may take have none.
  config.decoder.mlp.bias = experts.bias = reader.getBoolean("mlp_bias", false);
  return build(input, config);
}

static Module importV3(FamilyInput &input, const DeepSeekDefaults &otherwise) {
  ConfigReader &reader = input.config;
  DeepSeekConfig config = readDeepSeek(input, otherwise);
  readDense(reader, config, otherwise.dense);
  if (reader.getBoolean("rope_interleave", true))
    config.latent.rotary.layout = seq::RotaryPairs::Interleaved;
  config.further = reader.getInteger(
      reader.spelled("num_nextn_predict_layers", "num_mtp_layers"), 0,
      kMostLayers, otherwise.further);
  ExpertsConfig &experts = *config.decoder.experts;
  experts.score = RouterScore::Sigmoid;
  experts.balanced = experts.sharesAlone = true;
  experts.normalised = reader.getBoolean("norm_topk_prob", true);
  reader.expectString("scoring_func", "sigmoid");
  reader.expectString("topk_method", "noaux_tc");
  readExpertGroups(reader, experts, "n_group", "topk_group", otherwise.groups,
                   otherwise.groupsTaken);
  return build(input, config);
}

Module effc::frontend::importDeepSeekV3(FamilyInput &input) {
  return importV3(input, {.family = "deepseek_v3",
                          .scale = 2.5,
                          .groups = 8,
                          .groupsTaken = 4,
                          .dense = 3,
                          .further = 1});
}

Module effc::frontend::importGlm4MoeLite(FamilyInput &input) {
  return importV3(input, {.family = "glm4_moe_lite",
                          .epsilon = 1e-5,
                          .scale = 1.8,
                          .dense = 1,
                          .further = 1});
}
