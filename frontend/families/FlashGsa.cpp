#include "frontend/families/FlashGsa.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

namespace {

struct GsaConfig {
  FlashConfig model;
  int64_t heads = 1, keys = 1, values = 1; // H, K, V
  /// Heads of keys, values and slots, shared by groups of queries.
  int64_t keyHeads = 1;
  int64_t slots = 1;
  /// Taps of the short convolutions; 0: none.
  int64_t taps = 0;
  /// What the logs of slots' decays are divided by.
  double temperature = 8;
  seq::Nonlinearity feature = seq::Nonlinearity::Silu;
  bool affine = true;

  int64_t inner() const { return heads * values; }
};

} // namespace

static GsaConfig readGsa(FamilyInput &input) {
  ConfigReader &reader = input.config;
  GsaConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "gsa";
  config.taps = reader.getInteger("conv_size", 1, 64, 4);
  if (!reader.getBoolean("use_short_conv", false))
    config.taps = 0;
  config.affine = readAffine(reader);
  requireOneOf(reader, "hidden_act", {"swish"});
  config.heads = reader.getInteger("num_heads", 1, kMostDimension, 4);
  config.keyHeads = readKeyHeads(reader, config.heads);
  config.keys =
      readHeadChannels(reader, "expand_k", 1, config.model.width, config.heads);
  config.values =
      readHeadChannels(reader, "expand_v", 1, config.model.width, config.heads);
  if (!reader.hasProblem() && config.affine &&
      config.inner() != config.model.width)
    reader.report("expects 'expand_v' to be 1 beside 'elementwise_affine', "
                  "since the norm has 'hidden_size' " +
                  Twine(config.model.width) + " numbers, but got " +
                  Twine(config.inner()) + " channels");
  config.slots = 64;
  if (reader.get("num_slots"))
    config.slots = reader.getIntegerIfSet("num_slots", 1, kMostDimension)
                       .value_or(config.keys);
  config.temperature = reader.getNumber("gate_logit_normalizer", 1e-6, 1e9, 8);
  requireOneOf(reader, "feature_map", {"swish", "relu", "sigmoid"});
  config.feature =
      readActivation(reader, "feature_map", seq::Nonlinearity::Silu);
  ignoreHarmless(
      reader, input.remarks,
      {"clamp_max", "clamp_min", "fuse_norm", "use_norm", "use_output_gate"});
  return config;
}

namespace {

/// A gated linear attention from queries and keys to slots, a softmax over
/// these, and one from slots to values. What slots forget they take in.
class GsaEmitter {
public:
  GsaEmitter(ModelBuilder &model, const GsaConfig &config,
             const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source) {}

  Value emit(Value x) {
    auto each = [&](const std::string &part, int64_t rows,
                    seq::Nonlinearity function) {
      Value y = projectAndConvolve(
          model, name, source, part, x, rows, config.taps,
          config.taps > 0 ? seq::Activation::Silu : seq::Activation::None);
      return model.activate(name + part, y, function);
    };
    Value query = model.reshape(
        name + "mixer", each("q", config.heads * config.keys, config.feature),
        {config.heads, config.keys});
    Value key = inHeads(
        each("k", config.keyHeads * config.keys, config.feature), config.keys);
    Value value = inHeads(
        each("v", config.keyHeads * config.values, seq::Nonlinearity::Silu),
        config.values);
    Value forget = model.project(name + "f", source + "f_proj", x,
                                 config.keyHeads * config.slots);
    // 1 less the decay
    Value kept = model.elementwise<seq::ExpOp>(
        name + "s",
        model.scale(name + "s",
                    model.elementwise<seq::LogSigmoidOp>(name + "s", forget),
                    1 / config.temperature));
    Value slots = inHeads(
        model.sub(name + "s", repeatNumber(model, name + "s", 1, kept), kept),
        config.slots);
    forget = inHeads(forget, config.slots);
    Value found = attend("slots", query, key, slots, Value(), forget);
    found = model.elementwise<seq::SoftmaxOp>(name + "slots", found);
    Value y = attend("mixer", found, slots, value, forget, Value());
    y = model.activate(name + "mixer",
                       model.reshape(name + "mixer", y, {config.inner()}),
                       seq::Nonlinearity::Silu);
    // The library does not hand the configuration's bound to this norm.
    NormConfig norm;
    norm.epsilon = 1e-5;
    norm.weight = config.affine;
    y = model.norm(name + "norm", source + "g_norm", y, norm);
    return model.project(name + "o", source + "o_proj", y, model.getWidth());
  }

private:
  /// [T, H, C] of [T, G C].
  Value inHeads(Value flat, int64_t channels) {
    return model.reshape(name + "mixer",
                         repeatHeads(model, name + "mixer", flat,
                                     config.keyHeads,
                                     config.heads / config.keyHeads),
                         {config.heads, channels});
  }

  Value attend(const std::string &part, Value query, Value key, Value value,
               Value keyGate, Value valueGate) {
    std::string here = name + part;
    Value state =
        model.state(here, {config.heads, seq::typeOf(key).getDimSize(2),
                           seq::typeOf(value).getDimSize(2)});
    auto op = seq::GatedLinearAttentionOp::create(
        model.getBuilder(), model.at(here), value.getType(), state.getType(),
        query, key, value, keyGate, valueGate, state, llvm::APFloat(1.0),
        llvm::APFloat(config.temperature), /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return op.getY();
  }

  ModelBuilder &model;
  const GsaConfig &config;
  const std::string &name, &source;
};

} // namespace

Module effc::frontend::importFlashGsa(FamilyInput &input) {
  GsaConfig config = readGsa(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildFlash(config.model, input,
                    [&](ModelBuilder &model, const std::string &name,
                        const std::string &source, Value x, int64_t) {
                      return GsaEmitter(model, config, name, source).emit(x);
                    });
}
