#include "frontend/families/GptOss.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/checkpoint/TurnedMatrices.h"
#include "frontend/model/ClampedExperts.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

struct GptOssConfig {
  DecoderConfig decoder;
  ClampedExpertsConfig experts;
};

} // namespace

static void readWindows(ConfigReader &reader, DecoderConfig &decoder) {
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  std::vector<unsigned> kinds =
      readLayerPattern(reader, "layer_types", int64_t(decoder.layers.size()),
                       {"full_attention", "sliding_attention"},
                       [](int64_t layer) { return unsigned(layer % 2 == 0); });
  for (auto [layer, kind] : llvm::zip_equal(decoder.layers, kinds))
    layer.window = kind == 1 ? window : 0;
}

static ClampedExpertsConfig readExperts(ConfigReader &reader) {
  ClampedExpertsConfig experts;
  llvm::StringRef key =
      reader.isSet("num_experts") ? "num_experts" : "num_local_experts";
  experts.experts = reader.requireInteger(key, 1, kMostExperts);
  // The released files have both.
  std::optional<int64_t> first =
      reader.getIntegerIfSet("experts_per_token", 1, kMostExperts);
  experts.taken = reader.getInteger("num_experts_per_tok", 1, kMostExperts,
                                    first.value_or(4));
  if (first && *first != experts.taken && !reader.hasProblem())
    reader.report("expects 'experts_per_token' to be 'num_experts_per_tok' " +
                  llvm::Twine(experts.taken) + ", but got " +
                  llvm::Twine(*first));
  if (!reader.hasProblem() && experts.taken > experts.experts)
    reader.report("expects 'num_experts_per_tok' up to " + quote(key) + " " +
                  llvm::Twine(experts.experts) + ", but got " +
                  llvm::Twine(experts.taken));
  experts.limit = reader.getNumber("swiglu_limit", 1e-6, 1e9, experts.limit);
  experts.slope = reader.getNumber("swiglu_alpha", 1e-6, 1e9, experts.slope);
  return experts;
}

static GptOssConfig readGptOss(FamilyInput &input) {
  ConfigReader &reader = input.config;
  GptOssConfig config;
  DecoderKeys keys;
  keys.epsilonOtherwise = 1e-5;
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false, keys);
  DecoderConfig &decoder = config.decoder;
  decoder.family = "gpt_oss";
  decoder.attention.inputBias = decoder.attention.outputBias =
      reader.getBoolean("attention_bias", true);
  decoder.attention.sinkLogits = true;
  readWindows(reader, decoder);
  config.experts = readExperts(reader);
  config.experts.hidden = decoder.mlp.hidden;
  if (readActivation(reader, "hidden_act", seq::Nonlinearity::Silu) !=
      seq::Nonlinearity::Silu)
    reader.reportMismatch("hidden_act", "silu", *reader.get("hidden_act"));
  RotaryRequest request{decoder.attention.keys, decoder.context};
  request.theta = 150000;
  request.otherwise = R"({"rope_type": "yarn", "factor": 32, "truncate": false,
                          "original_max_position_embeddings": 4096})";
  RotaryConfig rotary = readRotary(reader, input, request);
  for (LayerAttention &layer : decoder.layers)
    layer.rotary = rotary;
  ignoreHarmless(reader, input.remarks,
                 {"initial_context_length", "output_router_logits",
                  "router_aux_loss_coef"});
  return config;
}

/// Where the public library keeps experts, their matrices lie as [inputs,
/// outputs]; those in blocks as [outputs, inputs].
static llvm::Error turnExperts(FamilyInput &input, const GptOssConfig &config) {
  if (!input.checkpoint.hasWeights())
    return llvm::Error::success();
  std::vector<std::string> inner, outer;
  for (size_t layer = 0; layer < config.decoder.layers.size(); ++layer) {
    std::string experts =
        LayerNames(config.decoder, int64_t(layer)).source + "mlp.experts.";
    inner.push_back(experts + "gate_up_proj");
    outer.push_back(experts + "down_proj");
  }
  auto count = uint64_t(config.experts.experts),
       units = uint64_t(config.experts.hidden),
       width = uint64_t(config.decoder.width);
  if (llvm::Error error =
          turnMatrices(input.checkpoint, inner, {count, width, 2 * units}))
    return error;
  return turnMatrices(input.checkpoint, outer, {count, units, width});
}

static Value emitLayer(ModelBuilder &model, const GptOssConfig &config,
                       int64_t layer, Value x) {
  const DecoderConfig &decoder = config.decoder;
  LayerNames names(decoder, layer);
  const auto &[name, source] = names;
  auto mix = [&](Value token) {
    return emitAttention(model, decoder.attention,
                         decoder.layers[size_t(layer)],
                         {name + "attention", source + "self_attn."}, token);
  };
  auto feed = [&](Value token) {
    return emitClampedExperts(model, config.experts, name + "experts",
                              source + "mlp.", token);
  };
  return emitNormFirstLayer(model, decoder, names, "input_layernorm",
                            "post_attention_layernorm", mix, feed, x);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importGptOss(FamilyInput &input) {
  GptOssConfig config = readGptOss(input);
  if (llvm::Error error = input.config.finish())
    return error;
  if (llvm::Error error = turnExperts(input, config))
    return error;
  leaveAside(input, {"rotary_emb.inv_freq"});
  return buildTextModel(textModelOf(config.decoder, input), input,
                        [&](ModelBuilder &model, Value x) {
                          for (size_t layer = 0;
                               layer < config.decoder.layers.size(); ++layer)
                            x = emitLayer(model, config, int64_t(layer), x);
                          return x;
                        });
}
