#include "frontend/families/Qwen3Next.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/GatedDelta.h"
#include "frontend/model/LayerPattern.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

struct QwenHybridConfig {
  DecoderConfig decoder;
  GatedDeltaConfig delta;
  /// 1 for a layer of the gated delta rule.
  std::vector<unsigned> linear;
};

} // namespace

/// What all of these models have, but for experts.
static QwenHybridConfig readHybrid(ConfigReader &reader, FamilyInput &input,
                                   const DecoderKeys &keys,
                                   llvm::ArrayRef<llvm::StringRef> harmless) {
  QwenHybridConfig config;
  DecoderConfig &decoder = config.decoder;
  decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false, keys);
  decoder.norm.unitOffset = !input.stored.wholeNorms;
  decoder.attention.headNorm = decoder.norm;
  decoder.attention.gated = true;
  bool bias = reader.getBoolean("attention_bias", false);
  decoder.attention.inputBias = decoder.attention.outputBias = bias;
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  int64_t interval =
      reader.getInteger("full_attention_interval", 1, kMostLayers, 4);
  config.linear = readLayerPattern(
      reader, "layer_types", int64_t(decoder.layers.size()),
      {"full_attention", "linear_attention"},
      [&](int64_t layer) -> unsigned { return (layer + 1) % interval != 0; });
  RotaryRequest request{decoder.attention.keys, decoder.context};
  request.turned = 0.25;
  // How the axes of a picture's positions share the pairs: a text's are equal.
  request.harmless = {"mrope_section", "mrope_interleaved"};
  RotaryConfig rotary = readRotary(reader, input, request);
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
  config.delta = readGatedDelta(reader, decoder.mlp.activation);
  config.delta.epsilon = decoder.norm.epsilon;
  ignoreHarmless(reader, input.remarks, harmless);
  return config;
}

/// Experts and the gated layer that every token passes beside them.
static void readHybridExperts(ConfigReader &reader, DecoderConfig &decoder) {
  decoder.experts = readExperts(reader, /*normalised=*/true);
  decoder.experts->activation = decoder.mlp.activation;
  decoder.experts->shared = reader.requireInteger(
      "shared_expert_intermediate_size", 1, kMostDimension);
}

static Module build(const QwenHybridConfig &config, FamilyInput &input) {
  const DecoderConfig &decoder = config.decoder;
  TextModelConfig text = textModelOf(decoder, input);
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(decoder.layers.size()); ++layer) {
      LayerNames names(decoder, layer);
      const auto &[name, source] = names;
      auto mix = [&](Value token) {
        if (config.linear[size_t(layer)] == 0)
          return emitAttention(
              model, decoder.attention, decoder.layers[size_t(layer)],
              {name + "attention", source + "self_attn."}, token);
        return emitGatedDelta(model, config.delta, name,
                              source + "linear_attn.", token);
      };
      auto feed = [&](Value token) {
        return emitMlpOrExperts(model, decoder, layer, name, source + "mlp.",
                                token);
      };
      x = emitNormFirstLayer(model, decoder, names, "input_layernorm",
                             "post_attention_layernorm", mix, feed, x);
    }
    return x;
  });
}

Module effc::frontend::importQwen3Next(FamilyInput &input) {
  ConfigReader &reader = input.config;
  QwenHybridConfig config = readHybrid(
      reader, input, {}, {"output_router_logits", "router_aux_loss_coef"});
  DecoderConfig &decoder = config.decoder;
  decoder.family = "qwen3_next";
  readHybridExperts(reader, decoder);
  decoder.routes = readExpertsPattern(reader, int64_t(decoder.layers.size()));
  // Written by release 4 and never read.
  if (reader.getBoolean("use_sliding_window", false))
    reader.report("expects 'use_sliding_window' to be false, but got true");
  if (llvm::Error error = reader.finish())
    return error;
  // A converter may have put the projections apart.
  if (llvm::any_of(input.checkpoint.getUnread(), [](llvm::StringRef name) {
        return name.ends_with(".linear_attn.in_proj_qkv.weight");
      }))
    config.delta.layout = DeltaLayout::GatesApart;
  // Layers that guess several tokens at once.
  leaveAside(input, {"rotary_emb.inv_freq"}, {"mtp."});
  return build(config, input);
}

//===----------------------------------------------------------------------===//
// Qwen3.5 and 3.6
//===----------------------------------------------------------------------===//

/// The text's configuration, which `reader` reads. `tied`: what the
/// configuration around it says.
static Module importText(ConfigReader &reader, FamilyInput &input,
                         bool hasExperts, std::optional<bool> tied) {
  DecoderKeys keys;
  if (hasExperts)
    keys.hidden = "";
  // The layers that guess further tokens are left aside, and the type of
  // states is the compiler's to choose.
  QwenHybridConfig config =
      readHybrid(reader, input, keys,
                 {"mamba_ssm_dtype", "mlp_only_layers", "mtp_num_hidden_layers",
                  "mtp_use_dedicated_embeddings", "output_router_logits",
                  "router_aux_loss_coef"});
  config.delta.layout = DeltaLayout::Apart;
  config.delta.tiled = input.stored.tiledValues;
  DecoderConfig &decoder = config.decoder;
  decoder.family = hasExperts ? "qwen3_5_moe" : "qwen3_5";
  if (hasExperts) {
    readHybridExperts(reader, decoder);
    if (!decoder.experts->normalised) // which the public library does not read
      reader.report("expects 'norm_topk_prob' to be true, but got false");
    ignoreHarmless(reader, input.remarks, {"intermediate_size"});
  }
  if (!reader.getBoolean("attn_output_gate", true))
    reader.report("expects 'attn_output_gate' to be true, but got false");
  decoder.head.tied = tied.value_or(decoder.head.tied);
  if (llvm::Error error = reader.finish())
    return error;
  // Text alone or beside what sees; tools save either way.
  decoder.prefix = findPrefix(
      input, {"model.", "model.language_model.", "language_model.model."},
      {"embed_tokens.weight", "norm.weight"});
  if (decoder.prefix == "language_model.model." &&
      !input.checkpoint.has(decoder.head.head))
    decoder.head.head = "language_model.lm_head.weight";
  leaveAside(input, {"rotary_emb.inv_freq"},
             {"mtp.", "model.visual.", "visual."});
  return build(config, input);
}

int64_t effc::frontend::readQwen35Vocabulary(ConfigReader &config,
                                             int64_t most) {
  const JsonObject *text = config.getObjectIfSet("text_config");
  if (!text) {
    config.report("lacks 'text_config'");
    return 1;
  }
  ConfigReader reader(config, "text_config", *text, /*isWhole=*/true);
  int64_t rows = reader.requireInteger("vocab_size", 1, most);
  if (reader.hasProblem())
    config.finishInner(reader);
  return rows;
}

/// A model that sees, of which the text's part is read.
static Module importSeeing(FamilyInput &input, bool hasExperts) {
  ConfigReader &outer = input.config;
  outer.ignore({"vision_config"});
  ignoreHarmless(outer, input.remarks,
                 {"hidden_size", "image_token_id", "video_token_id",
                  "vision_start_token_id", "vision_end_token_id"});
  std::optional<bool> tied;
  if (outer.isSet("tie_word_embeddings"))
    tied = outer.getBoolean("tie_word_embeddings", false);
  ConfigReader text(outer, "text_config", *outer.getObjectIfSet("text_config"),
                    /*isWhole=*/true);
  ignoreOuterKeys(text, input.remarks);
  if (llvm::Error error = outer.finish())
    return error;
  return importText(text, input, hasExperts, tied);
}

Module effc::frontend::importQwen35Text(FamilyInput &input) {
  return importText(input.config, input, /*hasExperts=*/false, std::nullopt);
}

Module effc::frontend::importQwen35MoeText(FamilyInput &input) {
  return importText(input.config, input, /*hasExperts=*/true, std::nullopt);
}

Module effc::frontend::importQwen35(FamilyInput &input) {
  return importSeeing(input, /*hasExperts=*/false);
}

Module effc::frontend::importQwen35Moe(FamilyInput &input) {
  return importSeeing(input, /*hasExperts=*/true);
}
