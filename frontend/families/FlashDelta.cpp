#include "frontend/families/FlashDelta.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/InverseFunctions.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

/// What the configurations of the three have in common.
struct DeltaConfig {
  FlashConfig model;
  int64_t heads = 1, groups = 1, keys = 1, values = 1; // H, G, K, V
  int64_t taps = 0;
  bool gate = false;
  /// Rates of correction up to 2.
  bool doubled = false;
  seq::Nonlinearity gateFunction = seq::Nonlinearity::Silu;
  /// Of queries and keys; values always have silu.
  seq::Nonlinearity activation = seq::Nonlinearity::Silu,
                    valueActivation = seq::Nonlinearity::Silu;
  /// Whether elu + 1 takes the activation's place.
  bool elu = false;
  /// Whether queries and keys have the sum 1 instead of the length 1.
  bool sums = false;
  /// Whether tokens have rates of their own; else every rate is 1.
  bool rates = true;
  /// Whether the taps of queries, keys and values lie in one tensor, `conv1d`.
  bool joinedTaps = false;
  /// The least log-decay, where gates are bounded.
  std::optional<double> leastDecay;
  llvm::StringRef output = "o_proj";

  int64_t inner() const { return heads * values; }
  double scale() const { return 1 / std::sqrt(double(keys)); }
};

/// What a layer's mixer reads, in heads.
struct DeltaOperands {
  Value query, key, value, rate, state;
};

} // namespace

static void readConvolutions(ConfigReader &reader, DeltaConfig &config) {
  config.taps = reader.getInteger("conv_size", 1, 64, 4);
  if (!reader.getBoolean("use_short_conv", true))
    config.taps = 0;
  config.doubled = reader.getBoolean("allow_neg_eigval", false);
}

static void readHarmless(FamilyInput &input) {
  ConfigReader &reader = input.config;
  requireOneOf(reader, "hidden_act", {"swish"});
  // "use_output_norm" is written, and read by no model.
  ignoreHarmless(reader, input.remarks, {"fuse_norm", "use_output_norm"});
}

/// Heads whose sizes are given by themselves, with more of values than of keys.
static void readGroups(ConfigReader &reader, DeltaConfig &config, int64_t keys,
                       double expand) {
  config.groups = reader.requireInteger("num_heads", 1, kMostDimension);
  config.heads = reader.getIntegerIfSet("num_v_heads", 1, kMostDimension)
                     .value_or(config.groups);
  config.keys = reader.getInteger("head_dim", 1, kMostDimension, keys);
  if (!reader.hasProblem() && config.heads % config.groups != 0)
    reader.report("expects 'num_v_heads' to be a multiple of 'num_heads' " +
                  Twine(config.groups) + ", but got " + Twine(config.heads));
  config.values = readHeadChannels(reader, "expand_v", expand, config.keys,
                                   /*heads=*/1, "head_dim");
}

/// x [T, H C] divided by the sums of its heads' magnitudes, at least `epsilon`.
static Value divideByMagnitudes(ModelBuilder &model, const std::string &name,
                                Value x, int64_t heads, double epsilon) {
  mlir::OpBuilder &builder = model.getBuilder();
  return divideHeads(
      model, name, x, heads,
      [&](Value head) { return model.elementwise<seq::AbsOp>(name, head); },
      [&](Value sum) -> Value {
        return seq::ClampOp::create(builder, model.at(name), sum.getType(), sum,
                                    builder.getF64FloatAttr(epsilon),
                                    /*upper=*/nullptr);
      });
}

/// A projection and its convolution, whose taps lie behind those of the `offset`
/// channels of others.
static Value convolveJoined(ModelBuilder &model, const DeltaConfig &config,
                            const std::string &name, const std::string &source,
                            llvm::StringRef part, Value x, int64_t offset,
                            int64_t rows, seq::Nonlinearity function) {
  std::string here = name + part.str();
  int64_t all = 2 * config.groups * config.keys + config.inner();
  WeightSource from(source + "conv1d.weight");
  from.transposed = true;
  from.rows = model.rows(offset, rows, all, 1);
  Value y = model.project(here, source + part + "_proj", x, rows);
  return model.shortConvolution(
      here + "_conv", y,
      model.numbers(here + "_conv", from, {config.taps, rows}), /*bias=*/{},
      function);
}

static DeltaOperands emitOperands(ModelBuilder &model,
                                  const DeltaConfig &config,
                                  const std::string &name,
                                  const std::string &source, Value x) {
  int64_t keyWidth = config.groups * config.keys;
  auto each = [&](llvm::StringRef part, int64_t rows,
                  seq::Nonlinearity function) {
    if (config.joinedTaps)
      return convolveJoined(model, config, name, source, part, x,
                            part == "q"   ? 0
                            : part == "k" ? keyWidth
                                          : 2 * keyWidth,
                            rows, function);
    bool silu = function == seq::Nonlinearity::Silu;
    Value y = projectAndConvolve(
        model, name, source, part, x, rows, config.taps,
        silu ? seq::Activation::Silu : seq::Activation::None);
    return silu ? y : model.activate(name + part, y, function);
  };
  // Keys and queries are of length 1 in each head.
  auto unit = [&](llvm::StringRef part) {
    std::string here = name + part.str();
    Value y = each(part, keyWidth, config.activation);
    if (config.elu)
      y = eluPlusOne(model, here, y);
    auto inHeads = [&](Value flat) {
      return model.reshape(name + "mixer", flat, {config.groups, config.keys});
    };
    NormConfig length;
    length.epsilon = 1e-6;
    if (config.sums)
      return inHeads(
          divideByMagnitudes(model, here, y, config.groups, length.epsilon));
    return inHeads(model.groupNorm(here, source, y, config.groups, /*size=*/0,
                                   length, seq::NormMeasure::SumSquare));
  };
  DeltaOperands operands;
  operands.query = unit("q");
  operands.key = unit("k");
  Value values = each("v", config.inner(), config.valueActivation);
  operands.value =
      model.reshape(name + "mixer", values, {config.heads, config.values});
  Value rate =
      config.rates
          ? model.activate(
                name + "b",
                model.project(name + "b", source + "b_proj", x, config.heads),
                seq::Nonlinearity::Sigmoid)
          : repeatNumber(model, name + "b", 1,
                         model.slice(name + "b", values, 0, config.heads));
  operands.rate = config.doubled ? model.scale(name + "b", rate, 2) : rate;
  operands.state =
      model.state(name + "mixer", {config.heads, config.keys, config.values});
  return operands;
}

static Value emitOutput(ModelBuilder &model, const DeltaConfig &config,
                        const std::string &name, const std::string &source,
                        Value mixed, Value gate) {
  Value y = normAndGate(model, name, source + "o_norm",
                        model.reshape(name + "mixer", mixed, {config.inner()}),
                        config.heads, config.model.norm.epsilon, gate,
                        config.gateFunction);
  return model.project(name + "o", source + config.output.str(), y,
                       model.getWidth());
}

Module effc::frontend::importFlashDeltaNet(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DeltaConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "delta_net";
  config.heads = config.groups =
      reader.requireInteger("num_heads", 1, kMostDimension);
  config.keys =
      readHeadChannels(reader, "expand_k", 1, config.model.width, config.heads);
  config.values =
      readHeadChannels(reader, "expand_v", 1, config.model.width, config.heads);
  config.gate = reader.getBoolean("use_gate", false);
  readConvolutions(reader, config);
  readHarmless(input);
  requireOneOf(reader, "qk_activation", {"silu", "relu", "elu", "identity"});
  requireOneOf(reader, "qk_norm", {"l2", "sum"});
  if (const std::string *name = reader.getString("qk_norm"))
    config.sums = *name == "sum";
  config.rates = reader.getBoolean("use_beta", true);
  requireOneOf(reader, "use_rope", {"false"});
  if (const std::string *name = reader.getString("qk_activation")) {
    config.elu = *name == "elu";
    config.activation = *name == "relu"   ? seq::Nonlinearity::Relu
                        : *name == "silu" ? seq::Nonlinearity::Silu
                                          : seq::Nonlinearity::Identity;
  }
  if (llvm::Error error = reader.finish())
    return error;
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, int64_t) {
    DeltaOperands in = emitOperands(model, config, name, source, x);
    auto op = seq::DeltaRuleOp::create(
        model.getBuilder(), model.at(name + "mixer"), in.value.getType(),
        in.state.getType(), in.query, in.key, in.value, in.rate, in.state,
        llvm::APFloat(config.scale()), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value gate;
    if (config.gate)
      gate = model.project(name + "g", source + "g_proj", x, config.inner());
    return emitOutput(model, config, name, source, op.getY(), gate);
  };
  return buildFlash(config.model, input, mixer);
}

static void readGatedDelta(ConfigReader &reader, DeltaConfig &config) {
  readGroups(reader, config, 256, 2);
  config.gate = reader.getBoolean("use_gate", true);
  readConvolutions(reader, config);
}

static FlashMixer makeGatedDeltaMixer(const DeltaConfig &config) {
  return [config](ModelBuilder &model, const std::string &name,
                  const std::string &source, Value x, int64_t) {
    DeltaOperands in = emitOperands(model, config, name, source, x);
    Value a = model.project(name + "a", source + "a_proj", x, config.heads);
    Value rate = model.vector(name + "a_log", source + "A_log", config.heads);
    Value bias =
        model.vector(name + "dt_bias", source + "dt_bias", config.heads);
    auto op = seq::GatedDeltaRuleOp::create(
        model.getBuilder(), model.at(name + "mixer"), in.value.getType(),
        in.state.getType(), in.query, in.key, in.value, in.rate, a, rate, bias,
        in.state, llvm::APFloat(config.scale()), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value gate;
    if (config.gate)
      gate = model.project(name + "g", source + "g_proj", x, config.inner());
    return emitOutput(model, config, name, source, op.getY(), gate);
  };
}

FlashMixer effc::frontend::readGatedDeltaMixer(ConfigReader &reader,
                                               const FlashConfig &model) {
  DeltaConfig config;
  config.model = model;
  readGatedDelta(reader, config);
  return makeGatedDeltaMixer(config);
}

Module effc::frontend::importFlashGatedDeltaNet(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DeltaConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "gated_deltanet";
  readGatedDelta(reader, config);
  readHarmless(input);
  requireOneOf(reader, "output_gate_activation", {"swish", "silu", "sigmoid"});
  config.gateFunction =
      readActivation(reader, "output_gate_activation", seq::Nonlinearity::Silu);
  if (llvm::Error error = reader.finish())
    return error;
  return buildFlash(config.model, input, makeGatedDeltaMixer(config));
}

namespace {

/// The pairs of products that make decays and gates; the first of a pair is empty
/// where it is one product.
struct KdaNames {
  llvm::StringRef decayLow, decay, gateLow, gate;
  bool gateBias;
};

} // namespace

namespace {

/// What decays are made of: a time step [T, H K], a rate [H], a bias [H, K].
struct KdaDecay {
  Value step, rate, bias;
};

} // namespace

/// What the second product of a pair is of.
static Value emitLow(ModelBuilder &model, const DeltaConfig &config,
                     const std::string &name, const std::string &source,
                     llvm::StringRef low, Value x) {
  return low.empty() ? x
                     : model.project(name + ".low", source + low.str(), x,
                                     config.values);
}

/// `like` is [T, H].
static KdaDecay emitDecay(ModelBuilder &model, const DeltaConfig &config,
                          const KdaNames &names, const std::string &name,
                          const std::string &source, Value x, Value like) {
  int64_t decays = config.heads * config.keys;
  std::string here = name + "f";
  Value low = emitLow(model, config, here, source, names.decayLow, x);
  Value step = model.project(here, source + names.decay.str(), low, decays);
  WeightSource flat(source + "dt_bias");
  flat.stored = {decays};
  if (!config.leastDecay) {
    Value rate = model.vector(name + "a_log", source + "A_log", config.heads);
    return {step, rate,
            model.numbers(name + "dt_bias", flat, {config.heads, config.keys})};
  }
  // -least * sigmoid(e^A_log (step + bias)), as a softplus of rate 1. Blocks of
  // a head's number give it to all its channels.
  WeightSource rates(source + "A_log");
  rates.stored = {config.heads, 1};
  rates.derived = seq::DerivationAttr::get(model.getBuilder().getContext(),
                                           seq::DerivationRule::Repeated, 0);
  Value matrix =
      model.blocks(name + "a_log", rates, config.heads, config.keys, 1);
  Value ones = model.reshape(here, repeatNumber(model, here, 1, like),
                             {config.heads, 1});
  Value rate = model.reshape(here, model.linear(here, ones, matrix), {decays});
  Value bias = model.numbers(name + "dt_bias", flat, {decays});
  Value y = model.mul(here, model.elementwise<seq::ExpOp>(here, rate),
                      model.add(here, step, model.broadcast(here, bias, step)));
  y = model.scale(here, model.elementwise<seq::SigmoidOp>(here, y),
                  -*config.leastDecay);
  return {beforeSoftplus(model, here, y),
          model.constant("unit_rate", 0, {config.heads}),
          model.constant("no_bias", 0, {config.heads, config.keys})};
}

static Value emitKda(ModelBuilder &model, const DeltaConfig &config,
                     const KdaNames &names, const std::string &name,
                     const std::string &source, Value x) {
  DeltaOperands in = emitOperands(model, config, name, source, x);
  KdaDecay decay = emitDecay(model, config, names, name, source, x, in.rate);
  auto op = seq::KimiDeltaAttentionOp::create(
      model.getBuilder(), model.at(name + "mixer"), in.value.getType(),
      in.state.getType(), in.query, in.key, in.value, in.rate,
      model.reshape(name + "mixer", decay.step, {config.heads, config.keys}),
      decay.rate, decay.bias, in.state, llvm::APFloat(config.scale()),
      /*form=*/nullptr);
  model.setNextState(op.getNextState());
  Value gate = emitLow(model, config, name + "g", source, names.gateLow, x);
  gate = model.project(name + "g", source + names.gate.str(), gate,
                       config.inner(), names.gateBias);
  return emitOutput(model, config, name, source, op.getY(), gate);
}

/// The bound changes the gate; `safe_gate` says which kernel may run, which
/// needs one.
static void readBound(ConfigReader &reader, DeltaConfig &config) {
  config.leastDecay = reader.getNumberIfSet("lower_bound", -5, 0);
  if (config.leastDecay == 0.0)
    reader.reportMismatch("lower_bound", "a number below 0",
                          *reader.get("lower_bound"));
  if (reader.getBoolean("safe_gate", false) && !config.leastDecay)
    reader.report("expects 'lower_bound' beside 'safe_gate', but got none");
}

Module effc::frontend::importFlashKda(FamilyInput &input) {
  ConfigReader &reader = input.config;
  DeltaConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "kda";
  readGroups(reader, config, 128, 1);
  readConvolutions(reader, config);
  readHarmless(input);
  config.gateFunction = seq::Nonlinearity::Sigmoid;
  readBound(reader, config);
  if (llvm::Error error = reader.finish())
    return error;
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, int64_t) {
    return emitKda(
        model, config,
        {"f_proj.0", "f_proj.1", "g_proj.0", "g_proj.1", /*gateBias=*/true},
        name, source, x);
  };
  return buildFlash(config.model, input, mixer);
}

Value effc::frontend::emitKimiDelta(ModelBuilder &model,
                                    const KimiDeltaConfig &layer,
                                    const std::string &name,
                                    const std::string &source, Value x) {
  DeltaConfig config;
  config.heads = config.groups = layer.heads;
  config.keys = config.values = layer.keys;
  config.taps = layer.taps;
  config.activation = config.valueActivation = layer.function;
  config.joinedTaps = layer.joinedTaps;
  config.gateFunction = seq::Nonlinearity::Sigmoid;
  config.model.norm.epsilon = layer.epsilon;
  config.leastDecay = layer.leastDecay;
  config.output = layer.output;
  KdaNames names{"f_a_proj", "f_b_proj", "g_a_proj", "g_b_proj",
                 /*gateBias=*/false};
  if (layer.fullRank)
    names = {"", "f_proj", "", "g_proj", /*gateBias=*/false};
  return emitKda(model, config, names, name, source, x);
}
