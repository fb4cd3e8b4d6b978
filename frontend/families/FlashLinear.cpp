#include "frontend/families/FlashLinear.h"

#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

/// What the configurations of the three have in common.
struct LinearConfig {
  FlashConfig model;
  int64_t heads = 1, keys = 1, values = 1; // H, K, V
  /// Heads of keys, values and key gates, shared by groups of queries.
  int64_t keyHeads = 1;
  /// Taps of the short convolutions; 0: none.
  int64_t taps = 0;
  bool gate = true, affine = true;
  /// Whether the norm and the gate are one module, under one name.
  bool fused = true;
  seq::Nonlinearity gateFunction = seq::Nonlinearity::Silu;
  seq::Nonlinearity feature = seq::Nonlinearity::Identity;

  int64_t inner() const { return heads * values; }
};

} // namespace

static int64_t readTaps(ConfigReader &reader, bool byDefault) {
  int64_t taps = reader.getInteger("conv_size", 1, 64, 4);
  return reader.getBoolean("use_short_conv", byDefault) ? taps : 0;
}

/// The function that the library calls so; its `gelu` is the approximation.
static seq::Nonlinearity readFunction(ConfigReader &reader, llvm::StringRef key,
                                      seq::Nonlinearity otherwise) {
  seq::Nonlinearity function = readActivation(reader, key, otherwise);
  return function == seq::Nonlinearity::Gelu ? seq::Nonlinearity::GeluTanh
                                             : function;
}

static LinearConfig readGated(FamilyInput &input, llvm::StringRef family,
                              double expandKeys, double expandValues,
                              double ratio, bool convolves) {
  ConfigReader &reader = input.config;
  LinearConfig config;
  config.model = readFlash(input, ratio);
  config.model.family = family;
  config.heads = reader.requireInteger("num_heads", 1, kMostDimension);
  config.keys = readHeadChannels(reader, "expand_k", expandKeys,
                                 config.model.width, config.heads);
  config.values = readHeadChannels(reader, "expand_v", expandValues,
                                   config.model.width, config.heads);
  config.taps = convolves ? readTaps(reader, false) : 0;
  config.gate = reader.getBoolean("use_output_gate", true);
  config.gateFunction =
      readFunction(reader, "hidden_act", seq::Nonlinearity::Silu);
  // The layers between take nothing but this one.
  requireOneOf(reader, "hidden_act", {"swish"});
  config.feature =
      readFunction(reader, "feature_map", seq::Nonlinearity::Identity);
  config.affine = readAffine(reader);
  config.fused = reader.getBoolean("fuse_norm", true) && config.gate;
  config.keyHeads = readKeyHeads(reader, config.heads);
  return config;
}

namespace {

/// Queries, keys and values of a layer, flat; keys and values have heads of
/// their own number.
struct Projected {
  Value query, key, value;
};

} // namespace

static Projected project(ModelBuilder &model, const LinearConfig &config,
                         const std::string &name, const std::string &source,
                         Value x) {
  auto each = [&](llvm::StringRef part, int64_t rows) {
    return projectAndConvolve(model, name, source, part, x, rows, config.taps,
                              config.taps > 0 ? seq::Activation::Silu
                                              : seq::Activation::None);
  };
  Projected all{each("q", config.heads * config.keys),
                each("k", config.keyHeads * config.keys),
                each("v", config.keyHeads * config.values)};
  all.query = model.activate(name + "q", all.query, config.feature);
  all.key = model.activate(name + "k", all.key, config.feature);
  return all;
}

/// From the mixed tokens [T, H, V] to the output: norm, gate, projection.
static Value emitOutput(ModelBuilder &model, const LinearConfig &config,
                        const std::string &name, const std::string &source,
                        Value x, Value mixed) {
  Value y = model.reshape(name + "mixer", mixed, {config.inner()});
  Value gate;
  if (config.gate)
    gate = model.project(name + "g", source + "g_proj", x, config.inner());
  std::string norm = source + (config.fused ? "g_norm_swish_gate" : "g_norm");
  if (config.affine)
    y = normAndGate(model, name, norm, y, config.heads,
                    config.model.norm.epsilon, gate, config.gateFunction);
  else {
    NormConfig plain;
    plain.epsilon = config.model.norm.epsilon;
    y = model.groupNorm(name + "norm", norm, y, config.heads, 0, plain);
    if (gate)
      y = model.mul(name + "norm", y,
                    model.activate(name + "gate", gate, config.gateFunction));
  }
  return model.project(name + "o", source + "o_proj", y, model.getWidth());
}

/// What the logistic function's logarithm is `log` of.
static double gateOf(double log) { return log - std::log1p(-std::exp(log)); }

Module effc::frontend::importFlashGla(FamilyInput &input) {
  ConfigReader &reader = input.config;
  LinearConfig config =
      readGated(input, "gla", 0.5, 1.0, 4, /*convolves=*/true);
  // Of log-decays; what it is of the gates before their sigmoid.
  std::optional<double> least = reader.getNumberIfSet("clamp_min", -1e4, -1e-6);
  // Written, and read by no model.
  ignoreHarmless(reader, input.remarks, {"use_gk", "use_gv"});
  if (llvm::Error error = reader.finish())
    return error;
  constexpr int64_t kRank = 16;
  constexpr double kTemperature = 16;
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, int64_t) {
    Projected all = project(model, config, name, source, x);
    int64_t keyWidth = config.keyHeads * config.keys;
    Value low = model.project(name + "gk.low", source + "gk_proj.0", x, kRank);
    Value gate = model.project(name + "gk", source + "gk_proj.1", low, keyWidth,
                               /*bias=*/true);
    mlir::OpBuilder &builder = model.getBuilder();
    if (least)
      gate = seq::ClampOp::create(
          builder, model.at(name + "gk"), gate.getType(), gate,
          builder.getF64FloatAttr(gateOf(*least * kTemperature)),
          /*upper=*/nullptr);
    auto inHeads = [&](Value flat, int64_t channels) {
      return model.reshape(name + "mixer", flat, {config.heads, channels});
    };
    auto shared = [&](Value flat) {
      return repeatHeads(model, name + "mixer", flat, config.keyHeads,
                         config.heads / config.keyHeads);
    };
    Value value = inHeads(shared(all.value), config.values);
    Value state =
        model.state(name + "mixer", {config.heads, config.keys, config.values});
    auto op = seq::GatedLinearAttentionOp::create(
        builder, model.at(name + "mixer"), value.getType(), state.getType(),
        inHeads(all.query, config.keys), inHeads(shared(all.key), config.keys),
        value, inHeads(shared(gate), config.keys),
        /*value_gate=*/nullptr, state,
        llvm::APFloat(1 / std::sqrt(double(config.keys))),
        llvm::APFloat(kTemperature),
        /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return emitOutput(model, config, name, source, x, op.getY());
  };
  return buildFlash(config.model, input, mixer);
}

Module effc::frontend::importFlashRetNet(FamilyInput &input) {
  ConfigReader &reader = input.config;
  LinearConfig config =
      readGated(input, "retnet", 1.0, 2.0, 2, /*convolves=*/false);
  // The library's model writes these and does not hand them to its layers.
  ignoreHarmless(reader, input.remarks, {"use_short_conv", "conv_size"});
  LayerAttention turned;
  turned.frequencies = "retention_frequencies";
  if (!reader.hasProblem()) {
    RotaryRequest request{config.keys, config.model.context};
    turned.rotary = readRotary(reader, input, request);
  }
  if (llvm::Error error = reader.finish())
    return error;
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, int64_t) {
    Projected all = project(model, config, name, source, x);
    int64_t times = config.heads / config.keyHeads;
    auto turnedHeads = [&](Value flat, int64_t heads) {
      return turn(model, name + "mixer", turned,
                  model.reshape(name + "mixer", flat, {heads, config.keys}));
    };
    auto shared = [&](Value flat) {
      return repeatHeads(model, name + "mixer", flat, config.keyHeads, times);
    };
    Value key =
        model.reshape(name + "mixer",
                      shared(model.reshape(
                          name + "mixer", turnedHeads(all.key, config.keyHeads),
                          {config.keyHeads * config.keys})),
                      {config.heads, config.keys});
    Value value = model.reshape(name + "mixer", shared(all.value),
                                {config.heads, config.values});
    mlir::OpBuilder &builder = model.getBuilder();
    auto rule = seq::HeadDecaysAttr::get(
        builder.getContext(), seq::DecayRule::Retention, 0, 0, false);
    Value decays = model.computed("decays", rule, {config.heads});
    Value state =
        model.state(name + "mixer", {config.heads, config.keys, config.values});
    auto op = seq::RetentionOp::create(
        builder, model.at(name + "mixer"), value.getType(), state.getType(),
        turnedHeads(all.query, config.heads), key, value, decays, state,
        llvm::APFloat(1 / std::sqrt(double(config.keys))), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return emitOutput(model, config, name, source, x, op.getY());
  };
  return buildFlash(config.model, input, mixer);
}

//===----------------------------------------------------------------------===//
// HGRN2
//===----------------------------------------------------------------------===//

static LinearConfig readHgrn2(FamilyInput &input, bool &bounded) {
  ConfigReader &reader = input.config;
  LinearConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "hgrn2";
  int64_t width = config.model.width;
  // Where both are there the ratio counts, as in the library's layers.
  std::optional<int64_t> keys =
      reader.get("expand_ratio")
          ? reader.getIntegerIfSet("expand_ratio", 1, kMostDimension)
          : 128;
  std::optional<int64_t> heads =
      reader.getIntegerIfSet("num_heads", 1, kMostDimension);
  if (!keys && !heads)
    reader.report("lacks 'expand_ratio' and 'num_heads'");
  config.heads = std::max<int64_t>(keys ? width / *keys : heads.value_or(1), 1);
  config.keys = keys.value_or(width / config.heads);
  if (!reader.hasProblem() && (config.heads * config.keys != width ||
                               (heads && *heads != config.heads)))
    reader.report("expects 'num_heads' times 'expand_ratio' to be "
                  "'hidden_size' " +
                  Twine(width) + ", but got " +
                  Twine(heads.value_or(config.heads)) + " times " +
                  Twine(config.keys));
  config.values = config.keys;
  config.taps = readTaps(reader, false);
  requireOneOf(reader, "hidden_act", {"swish"});
  config.affine = readAffine(reader);
  bounded = reader.getBoolean("use_lower_bound", true);
  ignoreHarmless(reader, input.remarks, {"fuse_norm"});
  return config;
}

Module effc::frontend::importFlashHgrn2(FamilyInput &input) {
  bool bounded = true;
  LinearConfig config = readHgrn2(input, bounded);
  if (llvm::Error error = input.config.finish())
    return error;
  // The library calls its norm without the configuration's epsilon.
  constexpr double kEpsilon = 1e-5;
  int64_t width = config.model.width;
  llvm::SmallVector<int64_t> perKey = {config.heads, config.keys};
  auto lowerBound = [&](ModelBuilder &model, const std::string &name,
                        int64_t layer) {
    mlir::OpBuilder &builder = model.getBuilder();
    if (layer == 0 || !bounded)
      return model.constant("no_bound", 0, perKey);
    WeightSource source("model.lower_bounds");
    source.stored = {config.model.layers, width};
    source.derived = seq::DerivationAttr::get(
        builder.getContext(), seq::DerivationRule::LowerBound, layer);
    return model.numbers(name + "lower_bound", source, perKey);
  };
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, int64_t layer) {
    auto each = [&](llvm::StringRef part) {
      return projectAndConvolve(model, name, source, part, x, width,
                                config.taps, seq::Activation::None);
    };
    Value query =
        model.activate(name + "q", each("q"), seq::Nonlinearity::Silu);
    Value forget = each("f"), value = each("i");
    auto inHeads = [&](Value flat) {
      return model.reshape(name + "mixer", flat, perKey);
    };
    Value bound = lowerBound(model, name, layer);
    query = inHeads(query);
    forget = inHeads(forget);
    value = inHeads(value);
    Value state =
        model.state(name + "mixer", {config.heads, config.keys, config.values});
    auto op = seq::Hgrn2Op::create(
        model.getBuilder(), model.at(name + "mixer"), value.getType(),
        state.getType(), query, forget, value, bound, state,
        llvm::APFloat(1 / std::sqrt(double(config.keys))),
        /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value y = normAndGate(model, name, source + "g_norm",
                          model.reshape(name + "mixer", op.getY(), {width}), 1,
                          kEpsilon, /*gate=*/{}, seq::Nonlinearity::Identity,
                          config.affine);
    return model.project(name + "o", source + "o_proj", y, width);
  };
  if (bounded && config.model.layers == 1)
    leaveAside(input, {"lower_bounds"});
  return buildFlash(config.model, input, mixer);
}
