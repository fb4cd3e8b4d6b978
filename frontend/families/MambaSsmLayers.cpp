#include "frontend/families/MambaSsmLayers.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

/// What the package's configuration does not say: what its models with
/// attention are trained on.
static constexpr int64_t kContext = 2048;

static void readPlaces(ConfigReader &reader, int64_t layers,
                       MambaSsmLayers &config) {
  const JsonValue *value = reader.get("attn_layer_idx");
  if (!value)
    return;
  const JsonArray *numbers = value->getArray();
  if (!numbers)
    return reader.reportMismatch("attn_layer_idx", "an array of layers",
                                 *value);
  for (const JsonValue &each : *numbers) {
    std::optional<int64_t> number = each.getInteger();
    if (!number || *number < 0 || *number >= layers)
      return reader.reportMismatch(
          "attn_layer_idx", "numbers of layers in 0.." + Twine(layers - 1),
          each);
    config.attends.insert(*number);
  }
}

/// Heads, and how they turn.
static void readHeads(ConfigReader &reader, FamilyInput &input, int64_t width,
                      MambaSsmLayers &config) {
  AttentionConfig &heads = config.attention;
  heads.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  heads.keyHeads = reader.getIntegerIfSet("num_heads_kv", 1, kMostDimension)
                       .value_or(heads.heads);
  std::optional<int64_t> keys =
      reader.getIntegerIfSet("head_dim", 1, kMostDimension);
  if (!reader.hasProblem() && !keys && width % heads.heads != 0)
    reader.report("expects 'd_model' to be a multiple of 'num_heads' " +
                  Twine(heads.heads) + ", but got " + Twine(width));
  if (!reader.hasProblem() && heads.heads % heads.keyHeads != 0)
    reader.report("expects 'num_heads' to be a multiple of 'num_heads_kv' " +
                  Twine(heads.keyHeads) + ", but got " + Twine(heads.heads));
  heads.keys = keys.value_or(std::max<int64_t>(width / heads.heads, 1));
  heads.scale = reader.getNumberIfSet("softmax_scale", 1e-9, 1e9)
                    .value_or(1 / std::sqrt(double(heads.keys)));
  heads.inputBias = reader.getBoolean("qkv_proj_bias", true);
  heads.outputBias = reader.getBoolean("out_proj_bias", true);
  config.taps = reader.getInteger("d_conv", 0, 64, 0);
  if (config.taps == 1)
    reader.report("expects 'd_conv' to be 0 or at least 2, but got 1");
  if (!reader.getBoolean("causal", false))
    reader.report("expects 'causal' to be true, but got false");
  reader.getInteger("mlp_dim", 0, 0, 0);
  int64_t turned = reader.getInteger("rotary_emb_dim", 0, heads.keys, 0);
  bool interleaved = reader.getBoolean("rotary_emb_interleaved", false);
  RotaryRequest request{heads.keys, kContext};
  request.scaled = false;
  request.thetaKey = "rotary_emb_base";
  // Half a channel more, since the share's channels are rounded down.
  request.turned = (double(turned) + 0.5) / double(heads.keys);
  if (turned == 0)
    (void)reader.getNumber("rotary_emb_base", 1e-6, 1e15, 1e4);
  else if (!reader.hasProblem())
    config.turned.rotary = readRotary(reader, input, request);
  if (interleaved)
    config.turned.rotary.layout = seq::RotaryPairs::Interleaved;
}

MambaSsmLayers effc::frontend::readMambaSsmLayers(FamilyInput &input,
                                                  int64_t width,
                                                  int64_t layers) {
  ConfigReader &reader = input.config;
  MambaSsmLayers config;
  // The package does not let one choose it.
  config.norm.epsilon = 1e-5;
  config.norm.centred = config.norm.bias = !reader.getBoolean("rms_norm", true);
  readPlaces(reader, layers, config);
  // The package's layers come in steps of as many units.
  constexpr int64_t kUnits = 128;
  config.hidden = llvm::alignTo(
      reader.getInteger("d_intermediate", 0, kMostDimension, 0), kUnits);
  const JsonObject *object = reader.getObjectIfSet("attn_cfg");
  if (config.attends.empty() || reader.hasProblem())
    return config;
  if (!object) {
    reader.report("lacks an object 'attn_cfg', which layers of attention need");
    return config;
  }
  ConfigReader inner(reader, "attn_cfg", *object);
  readHeads(inner, input, width, config);
  reader.finishInner(inner);
  config.context = input.contextWanted > 0 ? input.contextWanted : kContext;
  if (input.contextWanted == 0)
    input.remarks.push_back("config.json names no longest text: keys have room "
                            "for " +
                            std::to_string(kContext) +
                            " tokens (--max-context)");
  return config;
}

/// From a normalised token to what the residual gets.
static Value emitLayerAttention(ModelBuilder &model,
                                const MambaSsmLayers &config,
                                const std::string &name,
                                const std::string &tensors, Value x) {
  const AttentionConfig &heads = config.attention;
  std::string here = name + "attention";
  int64_t inner = heads.inner(), keyWidth = heads.keyWidth();
  Value all =
      model.project(MatrixRole::Values, here + ".in", tensors + "in_proj", x,
                    inner + 2 * keyWidth, heads.inputBias);
  if (config.taps > 0)
    all = model.shortConvolution(
        here + ".conv", all,
        model.taps(here + ".conv", tensors + "conv1d.weight", config.taps,
                   inner + 2 * keyWidth),
        model.vector(here + ".conv_bias", tensors + "conv1d.bias",
                     inner + 2 * keyWidth),
        seq::Activation::None);
  auto part = [&](const char *which, int64_t offset, int64_t count) {
    return model.reshape(
        here + which,
        model.slice(here + which, all, offset, count * heads.keys),
        {count, heads.keys});
  };
  LayerAttention layer = streamed(model, here, config.turned);
  Value query = part(".query", 0, heads.heads);
  AttentionExtras extras;
  addSinks(model, here, layer, query, extras);
  Value mixed = attend(
      model, here, heads, layer.window,
      turn(model, here + ".query", layer, query),
      turn(model, here + ".key", layer, part(".key", inner, heads.keyHeads)),
      part(".value", inner + keyWidth, heads.keyHeads), extras);
  return model.project(
      MatrixRole::AttentionOut, here + ".out", tensors + "out_proj",
      model.reshape(here, mixed, {inner}), model.getWidth(), heads.outputBias);
}

/// The same of a gated layer.
static Value emitGatedLayer(ModelBuilder &model, const MambaSsmLayers &config,
                            const std::string &name, const std::string &source,
                            Value x) {
  std::string here = name + "mlp";
  // [ups; gates]
  Value both =
      model.project(here + ".in", source + "mlp.fc1", x, 2 * config.hidden);
  Value gate = model.activate(
      here + ".gate",
      model.slice(here + ".gate", both, config.hidden, config.hidden),
      seq::Nonlinearity::Silu);
  Value up = model.slice(here + ".up", both, 0, config.hidden);
  return model.project(MatrixRole::Down, here + ".down", source + "mlp.fc2",
                       model.mul(here + ".gate", gate, up), model.getWidth());
}

Value effc::frontend::emitMambaSsmLayer(ModelBuilder &model,
                                        const MambaSsmLayers &config,
                                        int64_t index, Value x,
                                        MambaSsmMixer mixer) {
  std::string name = "layers." + std::to_string(index) + ".";
  std::string source = "backbone." + name, tensors = source + "mixer.";
  Value normed = model.norm(name + "norm", source + "norm", x, config.norm);
  x = model.add(name + "residual", x,
                config.attends.count(index)
                    ? emitLayerAttention(model, config, name, tensors, normed)
                    : mixer(name, tensors, normed));
  if (config.hidden == 0)
    return x;
  normed = model.norm(name + "mlp_norm", source + "norm2", x, config.norm);
  return model.add(name + "mlp_residual", x,
                   emitGatedLayer(model, config, name, source, normed));
}
