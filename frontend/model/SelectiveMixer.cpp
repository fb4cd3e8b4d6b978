#include "frontend/model/SelectiveMixer.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

int64_t effc::frontend::readTimeStepRank(ConfigReader &reader,
                                         llvm::StringRef key, int64_t width) {
  const JsonValue *value = reader.get(key);
  if (!value || (value->getString() && *value->getString() == "auto"))
    return (width + 15) / 16;
  return reader.getInteger(key, 1, kMostDimension, 1);
}

namespace {

/// Names are those of the project, sources those of the file. With heads, what
/// belongs to one has a dimension for them.
class SelectiveEmitter {
public:
  SelectiveEmitter(const SelectiveConfig &config, const std::string &name,
                   const std::string &source, ModelBuilder &model)
      : config(config), name(name), source(source), model(model),
        heads(std::max<int64_t>(config.heads, 1)),
        channels(config.inner / heads) {}

  Value emit(Value x) {
    auto [taken, gate] = emitIn(x);
    Value taps = model.taps(name + "conv", source + "conv1d.weight",
                            config.taps, config.inner);
    Value bias;
    if (config.convolutionBias)
      bias = model.vector(name + "conv_bias", source + "conv1d.bias",
                          config.inner);
    Value u = model.shortConvolution(name + "conv", taken, taps, bias,
                                     config.function);
    Value y = model.reshape(name + "scan", emitScan(u), {config.inner});
    y = model.mul(name + "gate", y,
                  model.activate(name + "gate", gate, seq::Nonlinearity::Silu));
    return model.project(name + "out_proj", source + "out_proj", y,
                         model.getWidth(), config.projectionBias);
  }

private:
  /// What the convolution takes, and the gates.
  std::pair<Value, Value> emitIn(Value x) {
    int64_t inner = config.inner;
    if (config.heads > 0) {
      auto every = [&](const std::string &part, int64_t offset) {
        return model.projectRows(name + part, source + "in_proj", x,
                                 model.rows(offset, 1, 2, inner),
                                 config.projectionBias);
      };
      Value taken = every("in_proj", 0);
      return {taken, every("gate_proj", 1)};
    }
    Value both = model.project(name + "in_proj", source + "in_proj", x,
                               2 * inner, config.projectionBias);
    Value gate = model.slice(name + "in_proj", both, inner, inner);
    return {model.slice(name + "in_proj", both, 0, inner), gate};
  }

  /// A product for each head, or for the only one.
  Value multiply(const std::string &part, Value x, int64_t rows,
                 int64_t columns) {
    if (config.heads > 0)
      return model.linear(name + part, x,
                          model.blocks(name + part,
                                       WeightSource(source + part + "_weight"),
                                       heads, rows, columns));
    return model.linear(
        name + part, x,
        model.matrix(name + part, source + part + ".weight", rows, columns));
  }

  /// A part of what the convolution's result gives.
  Value emitPart(Value all, const char *what, llvm::StringRef stored,
                 int64_t offset, int64_t size) {
    Value y = model.slice(name + "x_proj", all, offset, size);
    if (!config.innerNorm)
      return y;
    NormConfig norm;
    norm.epsilon = *config.innerNorm;
    return model.groupNorm(name + what + "_norm",
                           source + stored + "_layernorm", y, 1,
                           config.innerNormWeights ? size : 0, norm);
  }

  Value emitScan(Value u) {
    int64_t keys = config.keys, rank = config.rank;
    bool hasHeads = config.heads > 0;
    auto inHeads = [&](Value y, int64_t each) {
      return model.reshape(name + "scan", y, {heads, each});
    };
    Value values = hasHeads ? inHeads(u, channels) : u;
    Value all = multiply("x_proj", values, rank + 2 * keys, channels);
    Value low = emitPart(all, "dt", "dt", 0, rank);
    Value key = emitPart(all, "b", config.keyNorm, rank, keys),
          query = emitPart(all, "c", config.queryNorm, rank + keys, keys);
    Value dt = multiply("dt_proj", low, channels, rank);
    WeightSource rates(source + "A_log");
    rates.transposed = true;
    Value decay = model.numbers(name + "a_log", rates, {heads, keys, channels});
    WeightSource steps(source + (hasHeads ? "dt_proj_bias" : "dt_proj.bias"));
    Value shift = model.numbers(name + "dt_bias", steps, {heads, channels});
    Value through = model.numbers(name + "d", WeightSource(source + "D"),
                                  {heads, channels});
    Value state = model.state(name + "scan", {heads, keys, channels});
    if (!hasHeads) {
      values = inHeads(values, channels);
      dt = inHeads(dt, channels);
      key = inHeads(key, keys);
      query = inHeads(query, keys);
    }
    auto op = seq::SelectiveScanOp::create(
        model.getBuilder(), model.at(name + "scan"), values.getType(),
        state.getType(), values, dt, key, query, decay, shift, through, state,
        /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return op.getY();
  }

  const SelectiveConfig &config;
  const std::string &name, &source;
  ModelBuilder &model;
  int64_t heads, channels;
};

} // namespace

Value effc::frontend::emitSelectiveMixer(ModelBuilder &model,
                                         const SelectiveConfig &config,
                                         const std::string &name,
                                         const std::string &source, Value x) {
  return SelectiveEmitter(config, name, source, model).emit(x);
}
