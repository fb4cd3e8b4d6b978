#include "frontend/model/GatedDelta.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

GatedDeltaConfig effc::frontend::readGatedDelta(ConfigReader &reader,
                                                seq::Nonlinearity function) {
  GatedDeltaConfig config;
  config.function = function;
  auto size = [&](llvm::StringRef key) {
    return reader.requireInteger(key, 1, kMostDimension);
  };
  config.groups = size("linear_num_key_heads");
  config.heads = size("linear_num_value_heads");
  config.keys = size("linear_key_head_dim");
  config.values = size("linear_value_head_dim");
  config.taps = reader.getInteger("linear_conv_kernel_dim", 1, 64, 4);
  if (!reader.hasProblem() && config.heads % config.groups != 0)
    reader.report("expects 'linear_num_value_heads' to be a multiple of "
                  "'linear_num_key_heads' " +
                  Twine(config.groups) + ", but got " + Twine(config.heads));
  return config;
}

/// Of the convolution's channels, all queries, then all keys, then all values,
/// the `size` from `offset` on.
static Value convolve(ModelBuilder &model, const GatedDeltaConfig &config,
                      const std::string &name, const std::string &source,
                      Value x, int64_t offset, int64_t size) {
  int64_t channels = 2 * config.keyWidth() + config.inner();
  bool isEach = config.layout == DeltaLayout::Each && !config.joinedTaps;
  const char *prefix = !isEach                          ? ""
                       : offset == 0                    ? "q_"
                       : offset < 2 * config.keyWidth() ? "k_"
                                                        : "v_";
  WeightSource from(source + prefix + "conv1d.weight");
  from.transposed = true;
  if (!isEach)
    from.rows = model.rows(offset, size, channels, 1);
  Value taps = model.numbers(name, from, {config.taps, size});
  return model.shortConvolution(name, x, taps, /*bias=*/{}, config.function);
}

/// Of `in_proj`, where it has everything.
static int64_t joinedRows(const GatedDeltaConfig &config) {
  return 2 * (config.keyWidth() + config.inner() + config.heads);
}

/// Queries, keys, values or gates: of each group the `size` rows from `offset`
/// on.
static Value projectPart(ModelBuilder &model, const GatedDeltaConfig &config,
                         const std::string &name, const std::string &source,
                         Value x, int64_t offset, int64_t size) {
  int64_t groups = config.groups, values = config.groupValues();
  int64_t gates = 2 * config.keys + values;
  if (config.layout == DeltaLayout::InTurn)
    return model.projectRows(name, source + "in_proj_qkvz", x,
                             model.rows(offset, size, gates + values, groups));
  if (config.layout == DeltaLayout::Joined)
    return model.projectRows(
        name, source + "in_proj", x,
        model.rows(groups * offset, groups * size, joinedRows(config), 1));
  if (config.layout == DeltaLayout::Each) {
    const char *tensor = offset == gates            ? "g_proj"
                         : offset == 0              ? "q_proj"
                         : offset < 2 * config.keys ? "k_proj"
                                                    : "v_proj";
    return model.project(name, source + tensor, x, groups * size);
  }
  if (offset == gates)
    return model.project(name, source + "in_proj_z", x, groups * size);
  return model.projectRows(
      name, source + "in_proj_qkv", x,
      model.rows(groups * offset, groups * size, groups * gates, 1));
}

/// A number for each head of values.
static Value projectNumber(ModelBuilder &model, const GatedDeltaConfig &config,
                           const std::string &name, const std::string &source,
                           Value x, const std::string &what) {
  int64_t heads = config.heads / config.groups;
  if (config.layout == DeltaLayout::Joined) {
    int64_t rows = joinedRows(config);
    return model.projectRows(
        name + what, source + "in_proj", x,
        model.rows(rows - (what == "b" ? 2 : 1) * config.heads, config.heads,
                   rows, 1));
  }
  if (config.layout == DeltaLayout::Each)
    return model.project(name + what, source + what + "_proj", x, config.heads);
  if (config.layout == DeltaLayout::Apart)
    return model.project(name + what, source + "in_proj_" + what, x,
                         config.heads);
  return model.projectRows(
      name + what, source + "in_proj_ba", x,
      model.rows(what == "b" ? 0 : heads, heads, 2 * heads, config.groups));
}

namespace {

/// What the rule reads of a token: [T, G, K] twice, then [T, H V] and [T, H]
/// twice.
struct DeltaInputs {
  Value query, key, value, rate, step;
};

} // namespace

/// The rule for `count` heads of values from `first` on, [T, count V].
static Value emitRule(ModelBuilder &model, const GatedDeltaConfig &config,
                      const std::string &name, const std::string &suffix,
                      const std::string &source, const DeltaInputs &in,
                      int64_t first, int64_t count) {
  std::string here = name + "mixer" + suffix;
  int64_t values = config.values;
  bool isWhole = count == config.heads;
  auto part = [&](Value x, int64_t width) {
    return isWhole ? x : model.slice(here, x, first * width, count * width);
  };
  auto vector = [&](const char *what, const char *tensor) {
    WeightSource from(source + tensor);
    if (!isWhole)
      from.rows = model.rows(first, count, config.heads, 1);
    return model.numbers(name + what + suffix, from, {count});
  };
  Value value = model.reshape(here, part(in.value, values), {count, values});
  Value decay = vector("a_log", "A_log"), bias = vector("dt_bias", "dt_bias");
  Value state = model.state(here, {count, config.keys, values});
  auto op = seq::GatedDeltaRuleOp::create(
      model.getBuilder(), model.at(here), value.getType(), state.getType(),
      in.query, in.key, value, part(in.rate, 1), part(in.step, 1), decay, bias,
      state, llvm::APFloat(1 / std::sqrt(double(config.keys))),
      /*form=*/nullptr);
  model.setNextState(op.getNextState());
  return model.reshape(here, op.getY(), {count * values});
}

/// The rule for all heads of values, [T, H V].
static Value emitRules(ModelBuilder &model, const GatedDeltaConfig &config,
                       const std::string &name, const std::string &source,
                       const DeltaInputs &in) {
  if (!config.tiled || config.heads == config.groups)
    return emitRule(model, config, name, "", source, in, 0, config.heads);
  llvm::SmallVector<Value> parts;
  for (int64_t first = 0; first < config.heads; first += config.groups)
    parts.push_back(emitRule(model, config, name,
                             "." + std::to_string(first / config.groups),
                             source, in, first, config.groups));
  return seq::ConcatOp::create(model.getBuilder(), model.at(name + "mixer"),
                               mlir::ValueRange(parts), /*axis=*/1);
}

Value effc::frontend::emitGatedDelta(ModelBuilder &model,
                                     const GatedDeltaConfig &config,
                                     const std::string &name,
                                     const std::string &source, Value x) {
  int64_t groups = config.groups, keys = config.keys,
          values = config.groupValues();
  auto part = [&](const char *what, int64_t offset, int64_t size) {
    return projectPart(model, config, name + what, source, x, offset, size);
  };
  // Queries and keys are of length 1 in each head.
  auto unit = [&](const char *what, int64_t place) {
    NormConfig length;
    length.epsilon = 1e-6;
    Value y = convolve(model, config, name + what + "_conv", source,
                       part(what, place * keys, keys),
                       place * config.keyWidth(), config.keyWidth());
    y = model.groupNorm(name + what, source, y, groups, /*size=*/0, length,
                        seq::NormMeasure::SumSquare);
    return model.reshape(name + "mixer", y, {groups, keys});
  };
  DeltaInputs in;
  in.query = unit("q", 0);
  in.key = unit("k", 1);
  in.value = convolve(model, config, name + "v_conv", source,
                      part("v", 2 * keys, values), 2 * config.keyWidth(),
                      config.inner());
  in.rate = model.activate(name + "b",
                           projectNumber(model, config, name, source, x, "b"),
                           seq::Nonlinearity::Sigmoid);
  if (config.mostRate != 1)
    in.rate = model.scale(name + "b", in.rate, config.mostRate);
  in.step = projectNumber(model, config, name, source, x, "a");
  NormConfig norm;
  norm.epsilon = config.epsilon;
  Value y = model.groupNorm(name + "norm", source + config.normName,
                            emitRules(model, config, name, source, in),
                            config.heads, config.values, norm);
  Value gate = model.activate(name + "z", part("z", 2 * keys + values, values),
                              seq::Nonlinearity::Silu);
  return model.project(name + "out", source + config.outName,
                       model.mul(name + "norm", y, gate), model.getWidth());
}
