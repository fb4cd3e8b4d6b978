#include "frontend/families/LaraMini.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/GatedDelta.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

enum class Kind : unsigned { Linear, Sliding, Full };

struct LaraConfig {
  DecoderConfig decoder;
  GatedDeltaConfig delta;
  std::vector<Kind> kinds;
};

} // namespace

static void readKinds(ConfigReader &reader, FamilyInput &input,
                      LaraConfig &config) {
  DecoderConfig &decoder = config.decoder;
  constexpr Kind kPeriod[] = {Kind::Linear, Kind::Sliding, Kind::Linear,
                              Kind::Full, Kind::Sliding};
  for (unsigned kind : readLayerPattern(
           reader, "layer_types", int64_t(decoder.layers.size()),
           {"linear_attention", "sliding_attention", "full_attention"},
           [&](int64_t layer) { return unsigned(kPeriod[layer % 5]); }))
    config.kinds.push_back(Kind(kind));
  int64_t window = reader.getInteger("sliding_window", 1, kMostContext, 512);
  RotaryConfig rotary =
      readRotary(reader, input, {decoder.attention.keys, decoder.context});
  for (auto [layer, kind] : llvm::zip_equal(decoder.layers, config.kinds))
    if (kind == Kind::Sliding) {
      layer.window = window;
      layer.rotary = rotary;
    }
}

static LaraConfig readLaraMini(FamilyInput &input) {
  ConfigReader &reader = input.config;
  LaraConfig config;
  DecoderKeys keys;
  keys.hidden = "";
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/true, keys);
  DecoderConfig &decoder = config.decoder;
  decoder.family = "lara_mini";
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  decoder.attention.headNorm = decoder.norm;
  decoder.attention.inputBias = decoder.attention.outputBias =
      reader.getBoolean("attention_bias", false);
  readKinds(reader, input, config);
  config.delta = readGatedDelta(reader, decoder.mlp.activation);
  config.delta.epsilon = decoder.norm.epsilon;
  decoder.experts = readExperts(reader, /*normalised=*/true);
  decoder.experts->activation = decoder.mlp.activation;
  decoder.experts->shared = reader.requireInteger(
      "shared_expert_intermediate_size", 1, kMostDimension);
  decoder.expertNames.sharedGate = "";
  ignoreHarmless(reader, input.remarks,
                 {"output_router_logits", "router_aux_loss_coef"});
  return config;
}

static Value emitLayer(ModelBuilder &model, const LaraConfig &config,
                       int64_t layer, Value x) {
  const DecoderConfig &decoder = config.decoder;
  LayerNames names(decoder, layer);
  const auto &[name, source] = names;
  auto mix = [&](Value token) {
    if (config.kinds[size_t(layer)] == Kind::Linear)
      return emitGatedDelta(model, config.delta, name, source + "linear_attn.",
                            token);
    return emitAttention(model, decoder.attention,
                         decoder.layers[size_t(layer)],
                         {name + "attention", source + "self_attn."}, token);
  };
  auto feed = [&](Value token) {
    return emitMlpOrExperts(model, decoder, layer, name, source + "mlp.",
                            token);
  };
  return emitNormFirstLayer(model, decoder, names, "input_layernorm",
                            "post_attention_layernorm", mix, feed, x);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importLaraMini(FamilyInput &input) {
  LaraConfig config = readLaraMini(input);
  if (llvm::Error error = input.config.finish())
    return error;
  // As files have the projections, or as the public library holds them.
  bool isHeld =
      llvm::any_of(input.checkpoint.getUnread(), [](llvm::StringRef name) {
        return name.ends_with(".linear_attn.in_proj_qkv.weight") ||
               name.ends_with(".linear_attn.in_proj_z.weight");
      });
  config.delta.layout = isHeld ? DeltaLayout::Apart : DeltaLayout::Joined;
  config.delta.normName = isHeld ? "norm" : "out_norm";
  leaveAside(input, {"rotary_emb.inv_freq"});
  TextModelConfig text = textModelOf(config.decoder, input);
  if (llvm::all_of(config.kinds,
                   [](Kind kind) { return kind == Kind::Linear; }))
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(config.kinds.size()); ++layer)
      x = emitLayer(model, config, layer, x);
    return x;
  });
}
