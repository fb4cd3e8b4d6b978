#include "frontend/families/FlashComba.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/WrittenStep.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct CombaConfig {
  FlashConfig model;
  int64_t heads = 1, groups = 1, keys = 1, values = 1; // H, G, K, V
  /// Taps of the short convolutions; 0: none.
  int64_t taps = 0;
  bool gate = true;

  int64_t inner() const { return heads * values; }
};

} // namespace

static CombaConfig readComba(FamilyInput &input) {
  ConfigReader &reader = input.config;
  CombaConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "comba";
  config.groups = reader.getInteger("num_heads", 1, kMostDimension, 6);
  config.heads = reader.getIntegerIfSet("num_v_heads", 1, kMostDimension)
                     .value_or(config.groups);
  config.keys = reader.getInteger("head_dim", 1, kMostDimension, 256);
  if (!reader.hasProblem() && config.heads % config.groups != 0)
    reader.report("expects 'num_v_heads' to be a multiple of 'num_heads' " +
                  Twine(config.groups) + ", but got " + Twine(config.heads));
  config.values = readHeadChannels(reader, "expand_v", 2, config.keys,
                                   /*heads=*/1, "head_dim");
  config.taps = reader.getInteger("conv_size", 1, 64, 4);
  if (!reader.getBoolean("use_short_conv", true))
    config.taps = 0;
  config.gate = reader.getBoolean("use_output_gate", true);
  requireOneOf(reader, "hidden_act", {"swish"});
  // The library's models do not hand the last three on: their layers correct
  // and decay whatever these say.
  ignoreHarmless(reader, input.remarks,
                 {"fuse_norm", "correction_factor", "use_inner_decay",
                  "use_output_correction"});
  return config;
}

namespace {

/// A layer's mixer.
class CombaEmitter {
public:
  CombaEmitter(ModelBuilder &model, const CombaConfig &config,
               const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source) {}

  Value emit(Value x) {
    int64_t heads = config.heads;
    auto each = [&](llvm::StringRef part, int64_t rows) {
      return projectAndConvolve(model, name, source, part, x, rows, config.taps,
                                seq::Activation::Silu);
    };
    int64_t keyWidth = config.groups * config.keys;
    auto inGroups = [&](const char *part) {
      return model.reshape(name + part, each(part, keyWidth),
                           {config.groups, config.keys});
    };
    Value query = inGroups("q"), key = inGroups("k");
    Value value = model.reshape(name + "mixer", each("v", config.inner()),
                                {heads, config.values});
    Value probe =
        model.mul(name + "p", key,
                  model.activate(name + "p", numberOfHeads("p", "decay", key),
                                 seq::Nonlinearity::Sigmoid));
    query = model.sub(name + "q", query,
                      model.mul(name + "q", probe,
                                numberOfHeads("q_correction", "D", probe)));
    Value rate = model.activate(
        name + "b", model.project(name + "b", source + "b_proj", x, heads),
        seq::Nonlinearity::Sigmoid);
    Value step = model.project(name + "a", source + "a_proj", x, heads);
    query = model.scale(name + "q", inHeads("q", query),
                        1 / std::sqrt(double(config.keys)));
    Value y = emitStep(
        {query, inHeads("k", key), inHeads("p", probe), value, rate, step});
    Value gate;
    if (config.gate)
      gate = model.project(name + "g", source + "g_proj", x, config.inner());
    y = normAndGate(model, name, source + "o_norm",
                    model.reshape(name + "mixer", y, {config.inner()}), heads,
                    config.model.norm.epsilon, gate,
                    seq::Nonlinearity::Sigmoid);
    return model.project(name + "o", source + "o_proj", y, model.getWidth());
  }

private:
  /// The tensor's number of each head, for all of its channels in `like`.
  Value numberOfHeads(const std::string &part, const std::string &tensor,
                      Value like) {
    std::string here = name + part;
    return seq::BroadcastOp::create(
        model.getBuilder(), model.at(here),
        model.vector(here, source + tensor, config.groups), like,
        llvm::ArrayRef<int64_t>{1});
  }

  /// [T, H, K], each head of length 1.
  Value inHeads(const std::string &part, Value x) {
    std::string here = name + part;
    NormConfig length;
    length.epsilon = 1e-6;
    x = model.groupNorm(here, source,
                        model.reshape(here, x, {config.groups * config.keys}),
                        config.groups,
                        /*size=*/0, length, seq::NormMeasure::SumSquare);
    x = repeatHeads(model, here, x, config.groups,
                    config.heads / config.groups);
    return model.reshape(name + "mixer", x, {config.heads, config.keys});
  }

  /// S = a S + k (x) (rate * (v - p S of before)), y = q S, with
  /// a = exp(-exp(a_log) softplus(step + dt_bias))
  Value emitStep(llvm::ArrayRef<Value> tokens) {
    Value parameters[] = {
        model.vector(name + "a_log", source + "A_log", config.heads),
        model.vector(name + "dt_bias", source + "dt_bias", config.heads)};
    Value state =
        model.state(name + "mixer", {config.heads, config.keys, config.values});
    WrittenStep step(model, name + "mixer", tokens[3], tokens, parameters,
                     state);
    Value q = step.token(0), k = step.token(1), p = step.token(2),
          v = step.token(3), rate = step.token(4), s = step.state(0);
    Value decay =
        step.decay(step.token(5), step.parameter(0), step.parameter(1));
    Value read = step.contract(p, "hk", s, "hkv", "hv");
    Value value =
        step.contract(rate, "h", step.make<seq::SubOp>(v, read), "hv", "hv");
    Value next =
        step.make<seq::AddOp>(step.contract(decay, "h", s, "hkv", "hkv"),
                              step.contract(k, "hk", value, "hv", "hkv"));
    return step.finish(step.contract(q, "hk", next, "hkv", "hv"), next);
  }

  ModelBuilder &model;
  const CombaConfig &config;
  const std::string &name, &source;
};

} // namespace

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importFlashComba(FamilyInput &input) {
  CombaConfig config = readComba(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildFlash(config.model, input,
                    [&](ModelBuilder &model, const std::string &name,
                        const std::string &source, Value x, int64_t) {
                      return CombaEmitter(model, config, name, source).emit(x);
                    });
}
