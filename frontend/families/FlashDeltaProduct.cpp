#include "frontend/families/FlashDeltaProduct.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/WrittenStep.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

struct DeltaProductConfig {
  FlashConfig model;
  int64_t heads = 1, keys = 1, values = 1; // H, K, V
  /// How often a token corrects its state.
  int64_t corrections = 1;
  int64_t taps = 0;
  bool forgets = false, gate = false;
  /// Rates of correction up to 2.
  bool doubled = false;

  int64_t inner() const { return heads * values; }
};

/// Everything from a normalised token to what is added to the residual. Names
/// are those of the project, sources those of the file.
class DeltaProductEmitter {
public:
  DeltaProductEmitter(ModelBuilder &model, const DeltaProductConfig &config,
                      const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source) {}

  Value emit(Value x) {
    Value mixed = model.reshape(name + "mixer", emitStep(x), {config.inner()});
    Value gate;
    if (config.gate)
      gate = model.project(name + "g", source + "g_proj", x, config.inner());
    Value y =
        normAndGate(model, name, source + "o_norm", mixed, config.heads,
                    config.model.norm.epsilon, gate, seq::Nonlinearity::Silu);
    return model.project(name + "o", source + "o_proj", y, model.getWidth());
  }

private:
  /// [T, H channels] for each of `count` parts of what the projection gives.
  llvm::SmallVector<Value> emitParts(llvm::StringRef part, Value x,
                                     int64_t count, int64_t channels,
                                     bool isUnit) {
    int64_t rows = config.heads * channels;
    std::string here = name + part.str();
    Value y = projectAndConvolve(model, name, source, part, x, count * rows,
                                 config.taps, seq::Activation::Silu);
    NormConfig length;
    length.epsilon = 1e-6;
    if (isUnit)
      y = model.groupNorm(here, source, y, count * config.heads, /*size=*/0,
                          length, seq::NormMeasure::SumSquare);
    llvm::SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(model.reshape(
          here, count == 1 ? y : model.slice(here, y, i * rows, rows),
          {config.heads, channels}));
    return parts;
  }

  /// [T, H] for each correction.
  llvm::SmallVector<Value> emitRates(Value x) {
    std::string here = name + "b";
    int64_t heads = config.heads, count = config.corrections;
    Value rates = model.activate(
        here, model.project(here, source + "b_proj", x, count * heads),
        seq::Nonlinearity::Sigmoid);
    if (config.doubled)
      rates = model.scale(here, rates, 2);
    llvm::SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(count == 1 ? rates
                                 : model.slice(here, rates, i * heads, heads));
    return parts;
  }

  Value emitStep(Value x) {
    auto count = size_t(config.corrections);
    llvm::SmallVector<Value> tokens =
        emitParts("q", x, 1, config.keys, /*isUnit=*/true);
    llvm::append_range(tokens, emitParts("k", x, config.corrections,
                                         config.keys, /*isUnit=*/true));
    llvm::SmallVector<Value> values =
        emitParts("v", x, config.corrections, config.values, /*isUnit=*/false);
    llvm::append_range(tokens, values);
    llvm::append_range(tokens, emitRates(x));
    llvm::SmallVector<Value> parameters;
    if (config.forgets) {
      tokens.push_back(
          model.project(name + "a", source + "a_proj", x, config.heads));
      parameters = {
          model.vector(name + "dt_bias", source + "dt_bias", config.heads),
          model.vector(name + "a_log", source + "A_log", config.heads)};
    }
    Value state =
        model.state(name + "mixer", {config.heads, config.keys, config.values});
    WrittenStep step(model, name + "mixer", values.front(), tokens, parameters,
                     state);
    Value kept = step.state(0);
    if (config.forgets)
      kept = step.contract(step.decay(step.token(1 + 3 * count),
                                      step.parameter(1), step.parameter(0)),
                           "h", kept, "hkv", "hkv");
    for (size_t i = 0; i < count; ++i) {
      Value key = step.token(1 + i), value = step.token(1 + count + i);
      Value found = step.contract(key, "hk", kept, "hkv", "hv");
      Value error =
          step.contract(step.token(1 + 2 * count + i), "h",
                        step.make<seq::SubOp>(value, found), "hv", "hv");
      kept = step.make<seq::AddOp>(
          kept, step.contract(key, "hk", error, "hv", "hkv"));
    }
    // K^-1/2 of the query, which scales what is read.
    Value read = step.contract(step.token(0), "hk", kept, "hkv", "hv");
    return model.scale(name + "mixer", step.finish(read, kept),
                       1 / std::sqrt(double(config.keys)));
  }

  ModelBuilder &model;
  const DeltaProductConfig &config;
  const std::string &name, &source;
};

} // namespace

static DeltaProductConfig readDeltaProduct(FamilyInput &input) {
  ConfigReader &reader = input.config;
  constexpr int64_t kMostCorrections = 16;
  DeltaProductConfig config;
  config.model = readFlash(input, 4);
  config.model.family = "gated_deltaproduct";
  config.heads = reader.getInteger("num_heads", 1, kMostDimension, 6);
  config.keys = reader.getInteger("head_dim", 1, kMostDimension, 256);
  config.values = readHeadChannels(reader, "expand_v", 2, config.keys,
                                   /*heads=*/1, "head_dim");
  config.corrections =
      reader.getInteger("num_householder", 1, kMostCorrections, 1);
  config.taps = reader.getInteger("conv_size", 1, 64, 4);
  if (!reader.getBoolean("use_short_conv", true))
    config.taps = 0;
  config.forgets = reader.getBoolean("use_forget_gate", false);
  config.gate = reader.getBoolean("use_output_gate", true);
  config.doubled = reader.getBoolean("allow_neg_eigval", false);
  requireOneOf(reader, "hidden_act", {"swish"});
  ignoreHarmless(reader, input.remarks, {"fuse_norm"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importFlashGatedDeltaProduct(FamilyInput &input) {
  DeltaProductConfig config = readDeltaProduct(input);
  if (llvm::Error error = input.config.finish())
    return error;
  auto mixer = [&](ModelBuilder &model, const std::string &name,
                   const std::string &source, Value x, int64_t) {
    return DeltaProductEmitter(model, config, name, source).emit(x);
  };
  return buildFlash(config.model, input, mixer);
}
