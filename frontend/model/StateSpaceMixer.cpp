#include "frontend/model/StateSpaceMixer.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/LogLinear.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

/// The channels of a head: a number, or "auto" for an even share.
static int64_t readHeadWidth(ConfigReader &reader, int64_t heads, int64_t inner,
                             const std::string &what) {
  constexpr llvm::StringLiteral kKey = "mamba_d_head";
  const JsonValue *value = reader.get(kKey);
  const std::string *name = value ? value->getString() : nullptr;
  bool isAuto = !value || value->isNull() || (name && *name == "auto");
  if (name && !isAuto)
    reader.reportMismatch(kKey, "an integer or auto", *value);
  int64_t share = std::max<int64_t>(inner / heads, 1);
  int64_t width =
      isAuto ? share
             : reader.getInteger(kKey, 1, kMostStateSpaceDimension, share);
  if (!reader.hasProblem() && heads * width != inner)
    reader.report("expects 'mamba_n_heads' * 'mamba_d_head' to be " + what +
                  " = " + Twine(inner) + ", but got " + Twine(heads) + " * " +
                  Twine(width));
  return width;
}

StateSpaceConfig effc::frontend::readStateSpaceMixer(ConfigReader &reader,
                                                     FamilyInput &input,
                                                     int64_t width,
                                                     llvm::StringRef innerKey) {
  constexpr int64_t kMost = kMostStateSpaceDimension;
  StateSpaceConfig config;
  config.heads = reader.requireInteger("mamba_n_heads", 1, kMost);
  config.keys = reader.requireInteger("mamba_d_state", 1, kMost);
  config.groups = reader.getInteger("mamba_n_groups", 1, kMost, 1);
  config.taps = reader.getInteger("mamba_d_conv", 1, 64, 4);
  int64_t inner = reader.getInteger("mamba_expand", 1, 1024, 2) * width;
  std::string what = "'mamba_expand' * 'hidden_size'";
  if (!innerKey.empty() && reader.isSet(innerKey)) {
    inner = reader.getInteger(innerKey, 1, kMost * 1024, inner);
    what = quote(innerKey);
  }
  config.values = readHeadWidth(reader, config.heads, inner, what);
  if (!reader.hasProblem() && config.heads % config.groups != 0)
    reader.report("expects 'mamba_n_heads' to be a multiple of "
                  "'mamba_n_groups' " +
                  Twine(config.groups) + ", but got " + Twine(config.heads));
  config.convolutionBias = reader.getBoolean("mamba_conv_bias", true);
  config.inputBias = config.outputBias =
      reader.getBoolean("mamba_proj_bias", false);
  readTimeStepLimit(reader, "time_step_limit", config);
  if (config.dtMin > 0 || std::isfinite(config.dtMax))
    input.remarks.push_back(
        "config.json: 'time_step_limit' holds in every call; the public "
        "library's steps leave it out, so that they give other logits than its "
        "prompts");
  return config;
}

int64_t effc::frontend::chooseNormGroups(const StateSpaceConfig &config,
                                         FamilyInput &input) {
  if (config.gate == StateSpaceGate::Alone) {
    if (input.ungroupedNorm)
      input.remarks.push_back("an ungrouped norm is asked for, which changes "
                              "nothing: the gate has no norm");
    return 1;
  }
  std::string all = std::to_string(config.inner());
  std::string each = std::to_string(config.inner() / config.groups);
  if (input.ungroupedNorm) {
    input.remarks.push_back(
        config.groups == 1
            ? "an ungrouped norm is asked for, which changes nothing: there is "
              "one group"
            : "the gated norm takes one mean square over all " + all +
                  " channels, as is asked for; the models are trained with one "
                  "per group of " +
                  each);
    return 1;
  }
  if (config.groups > 1)
    input.remarks.push_back(
        "the gated norm takes one mean square per group of " + each +
        " channels, as the models are trained; releases of the public "
        "implementation before 5 take one over all channels "
        "(--ungrouped-norm)");
  return config.groups;
}

namespace {

/// Names are those of the project, sources those of the file.
class StateSpaceEmitter {
public:
  StateSpaceEmitter(const StateSpaceConfig &config, const std::string &name,
                    const std::string &source, ModelBuilder &model,
                    seq::Nonlinearity function)
      : config(config), name(name), source(source), model(model),
        function(function) {}

  /// The rows of in_proj are z, x, B, C, dt and the weights of levels, in that
  /// order, behind those of what stands beside the mixer.
  Value emit(Value x) {
    Value projected =
        emitProjection("in_proj", x, config.projected(), config.inputBias);
    int64_t inner = config.inner(), offset = 2 * config.beside;
    auto part = [&](int64_t size) {
      Value y = model.slice(name + "in_proj", projected, offset, size);
      offset += size;
      return y;
    };
    const StateSpaceFactors &factors = config.factors;
    Value gate = scaled(part(inner), factors.gate);
    Value convolved = emitConvolution(emitTaken(part(config.convolved())));
    Value dt = scaled(part(config.heads), factors.step);
    Value weight =
        config.levels > 0 ? part(config.heads * config.levels) : Value();
    Value y = emitGate(emitSsd(convolved, dt, weight), gate);
    if (config.beside > 0)
      y = seq::ConcatOp::create(model.getBuilder(), model.at(name + "beside"),
                                mlir::ValueRange{emitBeside(projected), y},
                                /*axis=*/1);
    return emitProjection("out_proj", y, model.getWidth(), config.outputBias);
  }

private:
  Value scaled(Value x, double factor) {
    return factor == 1 ? x : model.scale(name + "in_proj", x, factor);
  }

  /// What the convolution takes: x, B and C, each with its factor.
  Value emitTaken(Value x) {
    const StateSpaceFactors &factors = config.factors;
    if (factors.value == factors.key && factors.key == factors.query)
      return scaled(x, factors.value);
    int64_t inner = config.inner(), groupKeys = config.groupKeys();
    auto part = [&](int64_t offset, int64_t size, double factor) {
      return scaled(model.slice(name + "in_proj", x, offset, size), factor);
    };
    return seq::ConcatOp::create(
        model.getBuilder(), model.at(name + "in_proj"),
        mlir::ValueRange{part(0, inner, factors.value),
                         part(inner, groupKeys, factors.key),
                         part(inner + groupKeys, groupKeys, factors.query)},
        /*axis=*/1);
  }

  /// The gated channels that the mixer does not see.
  Value emitBeside(Value projected) {
    std::string here = name + "beside";
    auto part = [&](int64_t offset) {
      return model.slice(here, projected, offset, config.beside);
    };
    return model.mul(here,
                     model.activate(here, part(0), seq::Nonlinearity::Silu),
                     part(config.beside));
  }

  /// y [T, H V], gated and normalised in the configuration's order.
  Value emitGate(Value y, Value gate) {
    std::string here = name + "gated_norm";
    auto gated = [&](Value normed) {
      return model.mul(here, normed,
                       model.activate(here, gate, seq::Nonlinearity::Silu));
    };
    NormConfig norm;
    norm.epsilon = config.epsilon;
    switch (config.gate) {
    case StateSpaceGate::Alone:
      return gated(y);
    case StateSpaceGate::BehindNorm:
      return gated(model.groupNorm(here, source + "norm", y, config.normGroups,
                                   config.inner(), norm));
    case StateSpaceGate::BeforeNorm:
      return seq::GatedRmsNormOp::create(
          model.getBuilder(), model.at(here), y.getType(), y, gate,
          model.vector(here, source + "norm.weight", config.inner()),
          llvm::APFloat(config.epsilon), config.normGroups);
    }
    llvm_unreachable("every order is listed");
  }

  Value emitProjection(const char *part, Value x, int64_t rows, bool hasBias) {
    return model.project(name + part, source + part, x, rows, hasBias);
  }

  Value emitConvolution(Value x) {
    int64_t channels = config.convolved();
    Value taps = model.taps(name + "conv", source + "conv1d.weight",
                            config.taps, channels);
    Value bias;
    if (config.convolutionBias)
      bias = model.vector(name + "conv_bias", source + "conv1d.bias", channels);
    return model.shortConvolution(name + "conv", x, taps, bias, function);
  }

  /// The mixed tokens [T, H V]; `weight` is that of levels, where there are any.
  Value emitSsd(Value convolved, Value dt, Value weight) {
    int64_t inner = config.inner(), groupKeys = config.groupKeys();
    std::string here = name + "ssd";
    llvm::SmallVector<int64_t> perGroup = {config.groups, config.keys};
    Value channels = model.slice(here, convolved, 0, inner);
    Value x = model.reshape(here, channels, {config.heads, config.values});
    Value b = model.reshape(
        here, model.slice(here, convolved, inner, groupKeys), perGroup);
    Value c = model.reshape(
        here, model.slice(here, convolved, inner + groupKeys, groupKeys),
        perGroup);
    if (weight)
      return emitFed(
          emitLevels(model, config, name, source, {x, dt, b, c, weight}), x);
    Value rate = model.vector(name + "a_log", source + "A_log", config.heads);
    Value bias =
        model.vector(name + "dt_bias", source + "dt_bias", config.heads);
    Value d = config.feedsChannels
                  ? model.constant("no_feed", 0, {config.heads})
                  : model.vector(name + "d", source + "D", config.heads);
    Value state = model.state(here, {config.heads, config.keys, config.values});
    // A bound that does not bind is left out.
    mlir::OpBuilder &builder = model.getBuilder();
    mlir::FloatAttr least, most;
    if (config.dtMin > 0)
      least = builder.getF64FloatAttr(config.dtMin);
    if (std::isfinite(config.dtMax))
      most = builder.getF64FloatAttr(config.dtMax);
    auto op = seq::SsdOp::create(builder, model.at(here), x.getType(),
                                 state.getType(), x, dt, b, c, rate, bias, d,
                                 state, least, most, /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value y = model.reshape(here, op.getY(), {inner});
    if (!config.feedsChannels)
      return y;
    // Ops of its own, which the mixer's 0 leaves room for.
    Value feed = model.vector(name + "d", source + "D", inner);
    return model.add(
        here, y,
        model.mul(here, channels, model.broadcast(here, feed, channels)));
  }

  /// y [T, H, V] and the feed-through of x: [T, H V].
  Value emitFed(Value y, Value x) {
    std::string here = name + "ssd";
    WeightSource from(source + "D");
    llvm::SmallVector<int64_t> shape = {config.heads}, dimensions = {1};
    if (config.feedsChannels) {
      from.stored = {config.inner()};
      shape.push_back(config.values);
      dimensions.push_back(2);
    }
    Value feed = seq::BroadcastOp::create(
        model.getBuilder(), model.at(here),
        model.numbers(name + "d", from, shape), x, dimensions);
    return model.reshape(here, model.add(here, y, model.mul(here, x, feed)),
                         {config.inner()});
  }

  const StateSpaceConfig &config;
  const std::string &name, &source;
  ModelBuilder &model;
  seq::Nonlinearity function;
};

} // namespace

Value effc::frontend::emitStateSpaceMixer(ModelBuilder &model,
                                          const StateSpaceConfig &config,
                                          const std::string &name,
                                          const std::string &source, Value x,
                                          seq::Nonlinearity function) {
  return StateSpaceEmitter(config, name, source, model, function).emit(x);
}
