#include "frontend/families/Olmo.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"

using namespace effc;
using namespace effc::frontend;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

/// What all three have; windows and positions are the caller's.
static DecoderConfig readNormsBehind(FamilyInput &input,
                                     llvm::StringRef family) {
  ConfigReader &reader = input.config;
  DecoderKeys keys;
  keys.epsilonOtherwise = 1e-5;
  DecoderConfig config =
      readDecoder(reader, input.vocabulary, /*tiedByDefault=*/false, keys);
  config.family = family;
  config.norms = NormPlaces::Behind;
  config.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  ignoreHarmless(reader, input.remarks);
  return config;
}

static void readBias(ConfigReader &reader, DecoderConfig &config) {
  bool bias = reader.getBoolean("attention_bias", false);
  config.attention.inputBias = config.attention.outputBias = bias;
}

static Module build(FamilyInput &input, const DecoderConfig &config) {
  if (llvm::Error error = input.config.finish())
    return error;
  return buildDecoder(config, input);
}

Module effc::frontend::importOlmo2(FamilyInput &input) {
  DecoderConfig config = readNormsBehind(input, "olmo2");
  readBias(input.config, config);
  config.attention.wideNorm = config.norm;
  RotaryConfig rotary =
      readRotary(input.config, input, {config.attention.keys, config.context});
  for (LayerAttention &layer : config.layers)
    layer.rotary = rotary;
  return build(input, config);
}

/// One object for each kind of layers, as the public library saves them: it
/// reads nothing else of `rope_parameters`, and saves what stands beside them again.
static void checkRotaryKinds(ConfigReader &reader, Remarks &remarks) {
  constexpr llvm::StringLiteral kWhole = "full_attention",
                                kLocal = "sliding_attention";
  const JsonObject *object = reader.getObjectIfSet("rope_parameters");
  if (!object)
    return;
  bool hasBoth = object->find(kWhole) && object->find(kLocal);
  for (const JsonMember &member : object->getMembers())
    if (member.key == kWhole || member.key == kLocal)
      continue;
    else if (hasBoth)
      remarks.push_back("config.json: rope_parameters: " + quote(member.key) +
                        " is ignored: each kind of layers has an object");
    else
      reader.report("expects 'rope_parameters' to have objects "
                    "'full_attention' and 'sliding_attention' alone, but got " +
                    quote(member.key));
}

Module effc::frontend::importOlmo3(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DecoderConfig config = readNormsBehind(input, "olmo3");
  readBias(reader, config);
  config.attention.wideNorm = config.norm;
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  if (!reader.get("sliding_window"))
    window = 4096;
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", int64_t(config.layers.size()),
      {"full_attention", "sliding_attention"},
      [](int64_t layer) -> unsigned { return (layer + 1) % 4 != 0; });
  checkRotaryKinds(reader, input.remarks);
  // Outside of 'rope_parameters' the public library hands theta and scaling to
  // the layers that see all keys alone.
  RotaryRequest whole{config.attention.keys, config.context};
  whole.theta = 5e5;
  whole.layerType = "full_attention";
  RotaryRequest local = whole;
  local.layerType = "sliding_attention";
  local.thetaKey = "";
  local.scaled = false;
  RotaryConfig rotaries[] = {readRotary(reader, input, whole),
                             readRotary(reader, input, local)};
  for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds)) {
    layer.rotary = rotaries[kind];
    if (kind == 1) {
      layer.window = window;
      layer.frequencies = "local_frequencies";
    }
  }
  return build(input, config);
}

/// Layers with a window by `sliding_window_pattern`: every so many layers one
/// has none, or a letter for each, L for one with a window.
static bool slidesByPattern(ConfigReader &reader, int64_t layer) {
  constexpr llvm::StringLiteral kKey = "sliding_window_pattern";
  const JsonValue *value = reader.get(kKey);
  const std::string *letters = value ? value->getString() : nullptr;
  if (!letters)
    return (layer + 1) % reader.getInteger(kKey, 1, kMostLayers, 4) != 0;
  if (letters->empty() ||
      llvm::StringRef(*letters).find_first_not_of("LG") != std::string::npos) {
    reader.reportMismatch(kKey, "an integer or letters L and G", *value);
    return false;
  }
  return (*letters)[size_t(layer) % letters->size()] == 'L';
}

Module effc::frontend::importExaone4(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DecoderConfig config = readNormsBehind(input, "exaone4");
  config.attention.headNorm = config.norm;
  int64_t window =
      reader.getIntegerIfSet("sliding_window", 1, kMostContext).value_or(0);
  if (!reader.get("sliding_window"))
    window = 4096;
  bool isListed = reader.isSet("layer_types");
  if (isListed || window == 0)
    ignoreHarmless(reader, input.remarks, {"sliding_window_pattern"});
  std::vector<unsigned> kinds = readLayerPattern(
      reader, "layer_types", int64_t(config.layers.size()),
      {"full_attention", "sliding_attention"}, [&](int64_t layer) -> unsigned {
        return !isListed && window > 0 && slidesByPattern(reader, layer);
      });
  RotaryConfig rotary =
      readRotary(reader, input, {config.attention.keys, config.context});
  // Beside windows, layers that see all keys turn none.
  for (auto [layer, kind] : llvm::zip_equal(config.layers, kinds)) {
    if (kind == 1 || window == 0)
      layer.rotary = rotary;
    if (kind == 1)
      layer.window = window;
  }
  return build(input, config);
}
