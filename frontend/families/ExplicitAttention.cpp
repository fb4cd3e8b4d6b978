// Softmax attention of the explicit layout, with or without a number per key.
#include "frontend/families/ExplicitParts.h"

#include "frontend/model/DynamicMask.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct AttentionPart {
  /// H, G, J, K, V: heads of queries, keys and values, and their channels.
  int64_t heads = 1, keyHeads = 1, valueHeads = 1, keys = 1, values = 1;
  int64_t window = 0;
  double scale = 1;
  std::optional<double> softCap;
  bool bias = false, outputBias = false;
  NormChoice headNorm{/*present=*/false, /*hasWeight=*/true, {}};
  PositionChoice positions;
  /// What a number per key does; N of them, one for each group of heads.
  seq::KeyScore mask = seq::KeyScore::None;
  int64_t masks = 1;
  std::optional<int64_t> keep;
};

class AttentionEmitter {
public:
  AttentionEmitter(ModelBuilder &model, const AttentionPart &config,
                   const std::string &at)
      : model(model), config(config), at(at) {}

  Value emit(Value x) {
    Value query = project("q", x, config.heads, config.keys, true);
    Value key = project("k", x, config.keyHeads, config.keys, true);
    Value value = project("v", x, config.valueHeads, config.values, false);
    Value mixed = attend(query, positioned(key), value);
    return model.project(
        at + "o", at + "o",
        model.reshape(at + "mixer", mixed, {config.heads * config.values}),
        model.getWidth(), config.outputBias);
  }

private:
  Value project(const char *symbol, Value x, int64_t heads, int64_t channels,
                bool normed) {
    std::string name = at + symbol;
    Value flat = model.project(name, name, x, heads * channels, config.bias);
    if (normed && config.headNorm.present)
      flat = model.groupNorm(name + "_norm", name + "_norm", flat, heads,
                             config.headNorm.hasWeight ? channels : 0,
                             config.headNorm.config);
    return model.reshape(name, flat, {heads, channels});
  }

  Value positioned(Value x) {
    return emitPositions(model, at, config.positions, x);
  }

  /// The window and the turns of the part, or what its user asks for instead.
  LayerAttention chooseWindow() {
    LayerAttention layer = rotaryLayer(at, config.positions);
    layer.window = config.window;
    layer = streamed(model, at + "mixer", layer);
    if (layer.sinks > 0 && config.positions.kind == PositionChoice::CosineSine)
      model.report("expects rotary positions or none in '" + at +
                   "mixer' beside --sinks, but got \"cosine_sine\", whose "
                   "angles have no bound");
    return layer;
  }

  Value attend(Value query, Value key, Value value) {
    std::string name = at + "mixer";
    AttentionConfig plain;
    plain.scale = config.scale;
    plain.softCap = config.softCap;
    AttentionExtras extras;
    extras.effect = config.mask;
    extras.keep = config.keep;
    if (config.mask != seq::KeyScore::None) {
      Value flat =
          model.reshape(at + "dt", value, {config.valueHeads * config.values});
      extras.numbers =
          keyNumbers(model, at + "dt",
                     model.project(at + "dt", at + "dt", flat, config.masks),
                     model.vector(at + "a", at + "a", config.masks));
    }
    LayerAttention layer = chooseWindow();
    addSinks(model, name, layer, query, extras);
    return frontend::attend(model, name, plain, layer.window, positioned(query),
                            key, value, extras);
  }

  ModelBuilder &model;
  const AttentionPart &config;
  const std::string &at;
};

} // namespace

static void readMask(PartInput &in, AttentionPart &config) {
  readInner(in, "mask", [&](PartInput &inner) {
    config.mask = seq::KeyScore(
        1 + readName(inner.reader, "kind", {"bias", "scale", "threshold"}, 0));
    config.masks =
        inner.reader.getInteger("heads", 1, kMostDimension, config.heads);
    config.keep = inner.reader.getIntegerIfSet("keep", 1, kMostContext);
    if (!inner.reader.hasProblem() && config.heads % config.masks != 0)
      inner.reader.report("expects 'heads' to divide the " +
                          Twine(config.heads) + " heads of queries, but got " +
                          Twine(config.masks));
  });
}

EmitPart effc::frontend::readAttentionPart(PartInput &in) {
  ConfigReader &reader = in.reader;
  AttentionPart config;
  config.heads = reader.requireInteger("heads", 1, kMostDimension);
  config.keyHeads =
      reader.getInteger("key_heads", 1, kMostDimension, config.heads);
  config.valueHeads =
      reader.getInteger("value_heads", 1, kMostDimension, config.keyHeads);
  config.keys = reader.requireInteger("keys", 1, kMostDimension);
  config.values = reader.getInteger("values", 1, kMostDimension, config.keys);
  config.window = reader.getIntegerIfSet("window", 1, kMostContext).value_or(0);
  config.scale = reader.getNumberIfSet("scale", 1e-9, 1e9)
                     .value_or(1 / std::sqrt(double(config.keys)));
  config.softCap = reader.getNumberIfSet("soft_cap", 1e-9, 1e9);
  config.bias = reader.getBoolean("bias", false);
  config.outputBias = reader.getBoolean("output_bias", false);
  config.headNorm = readNorm(in, "head_norm", config.headNorm);
  config.positions = readPositions(in, config.keys);
  int64_t larger = std::max(config.keyHeads, config.valueHeads);
  for (auto [key, count] : {std::pair("key_heads", config.keyHeads),
                            {"value_heads", config.valueHeads}})
    if (!reader.hasProblem() &&
        (config.heads % count != 0 || larger % count != 0))
      reader.report("expects '" + Twine(key) + "' to divide the " +
                    Twine(config.heads) +
                    " heads and the other one's, but got " + Twine(count));
  readMask(in, config);
  return [config](ModelBuilder &model, const std::string &at, Value x) {
    return AttentionEmitter(model, config, at).emit(x);
  };
}
