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

Value effc::frontend::emitSelectiveMixer(ModelBuilder &model,
                                         const SelectiveConfig &config,
                                         const std::string &name,
                                         const std::string &source, Value x) {
  int64_t inner = config.inner, keys = config.keys, rank = config.rank;
  Value both = model.project(name + "in_proj", source + "in_proj", x, 2 * inner,
                             config.projectionBias);
  Value gate = model.slice(name + "in_proj", both, inner, inner);
  Value taps =
      model.taps(name + "conv", source + "conv1d.weight", config.taps, inner);
  Value bias;
  if (config.convolutionBias)
    bias = model.vector(name + "conv_bias", source + "conv1d.bias", inner);
  Value u = model.shortConvolution(
      name + "conv", model.slice(name + "in_proj", both, 0, inner), taps, bias,
      seq::Activation::Silu);
  Value all =
      model.project(name + "x_proj", source + "x_proj", u, rank + 2 * keys);
  auto part = [&](const char *what, llvm::StringRef stored, int64_t offset,
                  int64_t size) {
    Value y = model.slice(name + "x_proj", all, offset, size);
    if (!config.innerNorm)
      return y;
    NormConfig norm;
    norm.epsilon = *config.innerNorm;
    return model.groupNorm(name + what + "_norm",
                           source + stored + "_layernorm", y, 1,
                           config.innerNormWeights ? size : 0, norm);
  };
  Value low = part("dt", "dt", 0, rank);
  Value key = part("b", config.keyNorm, rank, keys),
        query = part("c", config.queryNorm, rank + keys, keys);
  Value dt = model.linear(
      name + "dt_proj", low,
      model.matrix(name + "dt_proj", source + "dt_proj.weight", inner, rank));
  // One head, whose value channels are the mixer's.
  auto one = [&](Value flat, int64_t channels) {
    return model.reshape(name + "scan", flat, {1, channels});
  };
  WeightSource rates(source + "A_log");
  rates.transposed = true;
  Value decay = model.numbers(name + "a_log", rates, {1, keys, inner});
  Value shift = model.numbers(
      name + "dt_bias", WeightSource(source + "dt_proj.bias"), {1, inner});
  Value through =
      model.numbers(name + "d", WeightSource(source + "D"), {1, inner});
  Value state = model.state(name + "scan", {1, keys, inner});
  Value values = one(u, inner);
  auto op = seq::SelectiveScanOp::create(
      model.getBuilder(), model.at(name + "scan"), values.getType(),
      state.getType(), values, one(dt, inner), one(key, keys), one(query, keys),
      decay, shift, through, state, /*form=*/nullptr);
  model.setNextState(op.getNextState());
  Value y =
      model.mul(name + "gate", model.reshape(name + "scan", op.getY(), {inner}),
                model.activate(name + "gate", gate, seq::Nonlinearity::Silu));
  return model.project(name + "out_proj", source + "out_proj", y,
                       model.getWidth(), config.projectionBias);
}
