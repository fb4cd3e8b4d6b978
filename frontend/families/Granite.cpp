#include "frontend/families/Granite.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"
#include "frontend/model/StateSpaceMixer.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

struct GraniteConfig {
  /// Its MLP is the one that every token passes, its experts those beside it.
  DecoderConfig decoder;
  bool hasShared = true;
  StateSpaceConfig mixer;
  /// 1 for a layer that attends.
  std::vector<unsigned> attends;
};

} // namespace

/// The kinds of layers: the released names, and those of the public library.
static std::vector<unsigned> readKinds(ConfigReader &reader, int64_t layers) {
  llvm::StringRef key =
      reader.isSet("layers_block_type") ? "layers_block_type" : "layer_types";
  std::vector<unsigned> kinds = readLayerPattern(
      reader, key, layers,
      {"mamba", "attention", "linear_attention", "full_attention"},
      [](int64_t) { return 0u; });
  for (unsigned &kind : kinds)
    kind %= 2;
  return kinds;
}

static void readPositions(ConfigReader &reader, FamilyInput &input,
                          DecoderConfig &decoder) {
  constexpr llvm::StringLiteral kKey = "position_embedding_type";
  const std::string *type =
      reader.isSet(kKey) ? reader.getString(kKey) : nullptr;
  if (type && *type != "rope" && *type != "nope")
    reader.reportMismatch(kKey, "rope, nope or null", *reader.get(kKey));
  if (!type || *type != "rope") {
    ignoreHarmless(reader, input.remarks, {"rope_scaling", "rope_theta"});
    ignoreRotary(reader, input);
    return;
  }
  RotaryConfig rotary =
      readRotary(reader, input, {decoder.attention.keys, decoder.context});
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
}

static void readGraniteExperts(ConfigReader &reader, FamilyInput &input,
                               DecoderConfig &decoder) {
  int64_t count =
      reader.getIntegerIfSet("num_local_experts", 0, kMostExperts).value_or(0);
  int64_t hidden = reader.getInteger("intermediate_size", 1, kMostDimension, 1);
  int64_t taken =
      reader.getIntegerIfSet("num_experts_per_tok", 0, kMostDimension)
          .value_or(reader.get("num_experts_per_tok") ? 0 : 2);
  if (count == 0) {
    for (llvm::StringRef key : {"intermediate_size", "num_experts_per_tok"})
      if (reader.isSet(key))
        input.remarks.push_back("config.json: " + quote(key) +
                                " is ignored: there are no experts");
    return;
  }
  ExpertsConfig experts;
  experts.experts = count;
  experts.hidden = hidden;
  experts.taken = taken;
  experts.activation = decoder.mlp.activation;
  if (!reader.hasProblem() && (taken < 1 || taken > count))
    reader.report(
        "expects 'num_experts_per_tok' from 1 to 'num_local_experts' " +
        llvm::Twine(count) + ", but got " + llvm::Twine(taken));
  decoder.experts = experts;
}

static GraniteConfig readGranite(FamilyInput &input) {
  ConfigReader &reader = input.config;
  GraniteConfig config;
  DecoderKeys keys;
  keys.hidden = "";
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false, keys);
  DecoderConfig &decoder = config.decoder;
  // A layer of no hidden units adds nothing.
  constexpr llvm::StringLiteral kShared = "shared_intermediate_size";
  int64_t shared = reader.requireInteger(kShared, 0, kMostDimension);
  config.hasShared = shared > 0;
  decoder.mlp.hidden = std::max<int64_t>(shared, 1);
  decoder.family = "granitemoehybrid";
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  bool bias = reader.getBoolean("attention_bias", false);
  decoder.attention.inputBias = decoder.attention.outputBias = bias;
  decoder.attention.scale = readFactor(reader, "attention_multiplier");
  decoder.embeddingScale = readFactor(reader, "embedding_multiplier");
  decoder.residualScale = readFactor(reader, "residual_multiplier");
  decoder.logitScale = 1 / readFactor(reader, "logits_scaling");
  config.attends = readKinds(reader, int64_t(decoder.layers.size()));
  readPositions(reader, input, decoder);
  readGraniteExperts(reader, input, decoder);
  if (!reader.hasProblem() && !config.hasShared && !decoder.experts)
    reader.report("expects " + quote(kShared) +
                  " of 1 or more where there are no experts, but got 0");
  config.mixer = readStateSpaceMixer(reader, input, decoder.width);
  config.mixer.epsilon = decoder.norm.epsilon;
  constexpr llvm::StringLiteral kNorm = "normalization_function";
  const std::string *norm =
      reader.isSet(kNorm) ? reader.getString(kNorm) : nullptr;
  if (norm && *norm != "rmsnorm")
    reader.reportMismatch(kNorm, "rmsnorm", *reader.get(kNorm));
  ignoreHarmless(reader, input.remarks,
                 {"init_method", "mamba_chunk_size", "mlp_bias",
                  "output_router_logits", "router_aux_loss_coef"});
  return config;
}

/// What every token passes, and experts beside it.
static Value emitFeedForward(ModelBuilder &model, const GraniteConfig &granite,
                             const std::string &name, const std::string &source,
                             Value x) {
  const DecoderConfig &config = granite.decoder;
  MlpNames shared{name + "mlp", source + "shared_mlp."};
  // Files of GGUF have gates and ups apart.
  if (!model.hasTensor(shared.source + "gate_proj.weight"))
    shared.fused = "input_linear";
  shared.down = "output_linear";
  Value y;
  if (granite.hasShared)
    y = emitMlp(model, config.mlp, shared, x);
  if (!config.experts)
    return y;
  ExpertsNames names{name + "experts", source + "block_sparse_moe."};
  // As the public library holds them, one by one as files of GGUF have them, or
  // else as the library saves them.
  bool isHeld = model.hasTensor(names.source + names.allGateUps.str()) ||
                model.hasTensor(names.source + names.allDowns.str());
  names.router = isHeld ? "router" : "router.layer";
  if (!isHeld && !model.hasTensor(names.source + "experts.0.up_proj.weight")) {
    names.allGateUps = "input_linear.weight";
    names.allDowns = "output_linear.weight";
  }
  Value z = emitExperts(model, *config.experts, names, x);
  return y ? model.add(name + "experts", y, z) : z;
}

static Value emitLayer(ModelBuilder &model, const GraniteConfig &config,
                       int64_t layer, Value x) {
  const DecoderConfig &decoder = config.decoder;
  LayerNames names(decoder, layer);
  const auto &[name, source] = names;
  auto mix = [&](Value token) {
    if (config.attends[size_t(layer)] == 0)
      return emitStateSpaceMixer(model, config.mixer, name, source + "mamba.",
                                 token, decoder.mlp.activation);
    return emitAttention(model, decoder.attention,
                         decoder.layers[size_t(layer)],
                         {name + "attention", source + "self_attn."}, token);
  };
  auto feed = [&](Value token) {
    return emitFeedForward(model, config, name, source, token);
  };
  return emitNormFirstLayer(model, decoder, names, "input_layernorm",
                            "post_attention_layernorm", mix, feed, x);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importGraniteHybrid(FamilyInput &input) {
  GraniteConfig config = readGranite(input);
  if (llvm::Error error = input.config.finish())
    return error;
  leaveAside(input, {"rotary_emb.inv_freq"});
  TextModelConfig text = textModelOf(config.decoder, input);
  if (llvm::is_contained(config.attends, 0u))
    config.mixer.normGroups = chooseNormGroups(config.mixer, input);
  if (!llvm::is_contained(config.attends, 1u))
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(config.attends.size()); ++layer)
      x = emitLayer(model, config, layer, x);
    return x;
  });
}
