#include "frontend/families/QwenMoe.h"

#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

static DecoderConfig readQwenMoe(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DecoderConfig config =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false);
  config.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  config.experts = readExperts(reader, /*normalised=*/false);
  config.experts->activation = config.mlp.activation;
  config.routes = readExpertsPattern(reader, int64_t(config.layers.size()));
  RotaryConfig rotary =
      readRotary(reader, input, {config.attention.keys, config.context});
  for (LayerAttention &layer : config.layers)
    layer.rotary = rotary;
  ignoreHarmless(reader, input.remarks,
                 {"output_router_logits", "router_aux_loss_coef"});
  return config;
}

/// The window, where it is used: 0 and null stand for none.
static int64_t readWindow(ConfigReader &reader) {
  bool slides = reader.getBoolean("use_sliding_window", false);
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 0, kMostContext).value_or(0);
  return slides ? window : 0;
}

Module effc::frontend::importQwen2Moe(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DecoderConfig config = readQwenMoe(input);
  config.family = "qwen2_moe";
  config.attention.inputBias = reader.getBoolean("qkv_bias", true);
  config.experts->shared = reader.requireInteger(
      "shared_expert_intermediate_size", 1, kMostDimension);
  int64_t window = readWindow(reader);
  int64_t end = reader.getInteger("max_window_layers", 0, kMostLayers, 28);
  // Every other layer of the first ones, as the public library's releases 5 and
  // the later ones of 4 have it; what earlier ones did depends on the kernels.
  bool listed = reader.isSet("layer_types");
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", int64_t(config.layers.size()),
      {"full_attention", "sliding_attention"},
      [&](int64_t layer) { return unsigned(layer % 2 == 0 && layer < end); });
  if (window > 0 && !listed)
    input.remarks.push_back(
        "config.json: without 'layer_types', every other layer of the first " +
        std::to_string(end) + " ('max_window_layers') has the window");
  for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds))
    layer.window = kind == 1 ? window : 0;
  if (llvm::Error error = reader.finish())
    return error;
  return buildDecoder(config, input);
}

Module effc::frontend::importQwen3Moe(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DecoderConfig config = readQwenMoe(input);
  config.family = "qwen3_moe";
  bool bias = reader.getBoolean("attention_bias", false);
  config.attention.inputBias = config.attention.outputBias = bias;
  config.attention.headNorm = config.norm;
  int64_t window = readWindow(reader);
  for (LayerAttention &layer : config.layers)
    layer.window = window;
  // It is written by releases before 5 and not read.
  ignoreHarmless(reader, input.remarks, {"max_window_layers"});
  if (llvm::Error error = reader.finish())
    return error;
  return buildDecoder(config, input);
}
