#include "frontend/families/Plamo3.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/PlamoDecoder.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

/// Of so many layers each, the last one sees all keys. The authors' first class
/// counts the keys before a token's own, its engines count that one too.
static void readPlamo3Windows(ConfigReader &reader, FamilyInput &input,
                              DecoderConfig &config) {
  llvm::StringRef key = reader.spelled("window_size", "sliding_window");
  int64_t window = reader.requireInteger(key, 1, kMostContext);
  int64_t period =
      reader.getInteger("sliding_window_pattern", 1, kMostLayers, 8);
  bool slides = false;
  for (size_t layer = 0; layer < config.layers.size(); ++layer)
    if ((int64_t(layer) + 1) % period != 0) {
      config.layers[layer].window = window;
      slides = true;
    }
  if (slides && !reader.isSet("rope_scaling_factor"))
    input.remarks.push_back(
        "config.json: " + quote(key) +
        " counts a token's own key, as public engines have it: the authors' "
        "code sees one key more where 'rope_scaling_factor' is missing");
}

/// What a class of the authors' writes besides, and computes from other keys:
/// each layer's window, or null.
static void checkWrittenWindows(ConfigReader &reader,
                                const DecoderConfig &config) {
  constexpr llvm::StringLiteral kKey = "interleaved_sliding_window";
  if (!reader.isSet(kKey) || reader.hasProblem())
    return;
  const JsonArray *written = reader.get(kKey)->getArray();
  bool fits = written && written->size() == config.layers.size();
  for (size_t layer = 0; fits && layer < config.layers.size(); ++layer) {
    const JsonValue &value = (*written)[layer];
    int64_t window = config.layers[layer].window;
    fits = window == 0 ? value.isNull() : value.getInteger() == window;
  }
  if (!fits)
    reader.reportMismatch(
        kKey,
        "the windows that follow from other keys, or null, of " +
            Twine(config.layers.size()) + " layers",
        *reader.get(kKey));
}

/// yarn in layers that see all keys, as these keys say it; else no scaling.
static std::string readPlamo3Scaling(ConfigReader &reader) {
  constexpr llvm::StringLiteral kFactor = "rope_scaling_factor",
                                kOriginal = "initial_context_length";
  double factor = reader.getNumberIfSet(kFactor, 1, 1e6).value_or(1);
  if (factor == 1) {
    reader.expectNone({kOriginal}, "where 'rope_scaling_factor' is 1");
    return "";
  }
  int64_t original = reader.requireInteger(kOriginal, 1, kMostContext);
  return R"({"rope_type": "yarn", "truncate": false, "factor": )" +
         describeNumber(factor) + R"(, "original_max_position_embeddings": )" +
         std::to_string(original) + "}";
}

static void readPlamo3Positions(ConfigReader &reader, FamilyInput &input,
                                DecoderConfig &config) {
  reader.expectNone({"rope_parameters", "rope_scaling"},
                    "beside the keys of its own that say the same");
  std::string scaling = readPlamo3Scaling(reader);
  RotaryRequest whole{config.attention.keys, config.context};
  whole.thetaKey = reader.spelled("rope_theta", "rope_global_theta");
  whole.otherwise = scaling;
  RotaryRequest local{config.attention.keys, config.context};
  local.thetaKey = "rope_local_theta";
  // Classes of the authors' differ in what stands for a missing one.
  if (!reader.isSet(whole.thetaKey))
    reader.report("lacks " + quote(whole.thetaKey));
  RotaryConfig all = readRotary(reader, input, whole),
               near = readRotary(reader, input, local);
  for (LayerAttention &layer : config.layers) {
    layer.rotary = layer.window > 0 ? near : all;
    if (layer.window > 0)
      layer.frequencies = "local_frequencies";
  }
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importPlamo3(FamilyInput &input) {
  ConfigReader &reader = input.config;
  constexpr llvm::StringLiteral kChannels = "head_dim";
  DecoderConfig config =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/true);
  if (!reader.isSet(kChannels))
    reader.report("lacks " + quote(kChannels));
  config.family = "plamo3";
  config.norm.unitOffset = !input.stored.wholeNorms;
  config.prefix = kPlamoPrefix;
  config.attention.headNorm = config.norm;
  readPlamo3Windows(reader, input, config);
  checkWrittenWindows(reader, config);
  readPlamo3Positions(reader, input, config);
  reader.expectNone({"attention_bias", "scale_embedding"},
                    "in what public engines run");
  if (reader.isSet("hidden_activation"))
    reader.expectString("hidden_activation", "swiglu");
  checkPlamoIsPlainText(reader);
  ignoreHarmless(reader, input.remarks,
                 {"image_feature_size", "image_proj_type"});
  if (llvm::Error error = reader.finish())
    return error;
  auto attend = [&](ModelBuilder &model, const LayerNames &names, int64_t layer,
                    Value x) {
    AttentionNames attention{names.name + "attention", names.source + "mixer."};
    attention.fused = "qkv_proj";
    return emitAttention(model, config.attention, config.layers[size_t(layer)],
                         attention, x);
  };
  return buildPlamo(config, input, attend);
}
