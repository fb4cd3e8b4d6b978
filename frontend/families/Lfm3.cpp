#include "frontend/families/Lfm3.h"

#include "frontend/model/Decoder.h"
#include "frontend/model/GatedConvolution.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

enum class Kind : unsigned { Convolution, Full, Sliding };

struct Lfm3Config {
  DecoderConfig decoder;
  GatedConvolutionConfig convolution;
  std::vector<Kind> kinds;
  /// Whether norms stand behind mixers and MLPs too.
  bool sandwich = true;
};

} // namespace

static Kind kindByDefault(int64_t layer) {
  if (layer % 4 == 2)
    return Kind::Full;
  return layer % 4 == 0 && layer > 0 ? Kind::Sliding : Kind::Convolution;
}

/// Positions and windows of each kind of layers.
static void readKinds(ConfigReader &reader, FamilyInput &input,
                      Lfm3Config &config) {
  DecoderConfig &decoder = config.decoder;
  for (unsigned kind : readLayerPattern(
           reader, "layer_types", int64_t(decoder.layers.size()),
           {"conv", "full_attention", "sliding_attention"},
           [](int64_t layer) { return unsigned(kindByDefault(layer)); }))
    config.kinds.push_back(Kind(kind));
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  if (!reader.get("sliding_window"))
    window = 256;
  RotaryRequest whole{decoder.attention.keys, decoder.context};
  whole.theta = 1e6;
  whole.layerType = "full_attention";
  whole.otherwise =
      R"({"rope_type": "proportional", "partial_rotary_factor": 0.5})";
  RotaryRequest local{decoder.attention.keys, decoder.context};
  local.layerType = "sliding_attention";
  // Where there is an object, theta is what the public library takes for all.
  local.theta = reader.isSet("rope_parameters") ? 1e6 : 1e4;
  RotaryConfig wholeRotary = readRotary(reader, input, whole),
               localRotary = readRotary(reader, input, local);
  for (auto [layer, kind] : llvm::zip_equal(decoder.layers, config.kinds)) {
    layer.rotary = kind == Kind::Sliding ? localRotary : wholeRotary;
    if (kind == Kind::Sliding) {
      layer.window = window;
      layer.frequencies = "local_frequencies";
    }
  }
}

static Lfm3Config readLfm3(FamilyInput &input) {
  ConfigReader &reader = input.config;
  Lfm3Config config;
  DecoderKeys keys;
  keys.epsilon = "norm_eps";
  keys.epsilonOtherwise = 1e-5;
  config.decoder =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/true, keys);
  DecoderConfig &decoder = config.decoder;
  decoder.family = "lfm3";
  AttentionConfig &attention = decoder.attention;
  attention.headNorm = decoder.norm;
  attention.headGate = reader.getBoolean("use_attention_gate", true);
  attention.inputBias = attention.outputBias =
      reader.getBoolean("attention_bias", false);
  config.sandwich = reader.getBoolean("use_sandwich_norm", true);
  config.convolution = readGatedConvolution(reader, /*tapsByDefault=*/7);
  readKinds(reader, input, config);
  ignoreHarmless(reader, input.remarks);
  return config;
}

static Value emitLayer(ModelBuilder &model, const Lfm3Config &config,
                       int64_t layer, Value x) {
  const DecoderConfig &decoder = config.decoder;
  LayerNames names(decoder, layer);
  const auto &[name, source] = names;
  auto ended = [&](const char *part, const char *tensor, Value y) {
    return config.sandwich
               ? model.norm(name + part, source + tensor, y, decoder.norm)
               : y;
  };
  auto mix = [&](Value token) {
    if (config.kinds[size_t(layer)] == Kind::Convolution)
      return ended("mixer_end_norm", "post_operator_norm",
                   emitGatedConvolution(model, config.convolution, name,
                                        source + "conv.", token));
    AttentionNames attention{name + "attention", source + "self_attn."};
    // As it is saved, or as the public library calls it.
    if (model.hasTensor(attention.source + "g_proj.weight"))
      attention.headGate = "g_proj";
    return ended("mixer_end_norm", "post_operator_norm",
                 emitAttention(model, decoder.attention,
                               decoder.layers[size_t(layer)], attention,
                               token));
  };
  auto feed = [&](Value token) {
    MlpNames mlp{name + "mlp", source + "feed_forward."};
    mlp.gate = "w1";
    mlp.up = "w3";
    mlp.down = "w2";
    return ended("mlp_end_norm", "post_ffn_norm",
                 emitMlp(model, decoder.mlp, mlp, token));
  };
  return emitNormFirstLayer(model, decoder, names, "operator_norm", "ffn_norm",
                            mix, feed, x);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importLfm3(FamilyInput &input) {
  Lfm3Config config = readLfm3(input);
  if (llvm::Error error = input.config.finish())
    return error;
  TextModelConfig text = textModelOf(config.decoder, input);
  text.endNorm = config.decoder.prefix + "embedding_norm";
  if (llvm::all_of(config.kinds,
                   [](Kind kind) { return kind == Kind::Convolution; }))
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < int64_t(config.kinds.size()); ++layer)
      x = emitLayer(model, config, layer, x);
    return x;
  });
}
