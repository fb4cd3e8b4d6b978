#include "frontend/families/PublicRwkv.h"

#include "frontend/model/Decoder.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

class RwkvEmitter {
public:
  RwkvEmitter(ModelBuilder &model, int64_t inner, int64_t hidden)
      : model(model), inner(inner), hidden(hidden) {}

  Value emitMixer(const std::string &name, const std::string &source, Value x) {
    Value delta = model.shiftDifference(name + "shift", x);
    Value key = project(name + "key", source, "key", x, delta, inner);
    Value value = project(name + "value", source, "value", x, delta, inner);
    Value gate = model.activate(
        name + "receptance",
        project(name + "receptance", source, "receptance", x, delta, inner),
        seq::Nonlinearity::Sigmoid);
    WeightSource rates(source + "time_decay");
    rates.derived =
        seq::DerivationAttr::get(model.getBuilder().getContext(),
                                 seq::DerivationRule::NegatedExponential, 0);
    Value decay = model.numbers(name + "decay", rates, {1, inner});
    Value bonus = model.numbers(
        name + "bonus", WeightSource(source + "time_first"), {1, inner});
    // The average's numerator and denominator, and the maximum they are
    // divided by.
    Value state = model.state(name + "mixer", {1, 1, inner});
    Value sum = model.state(name + "mixer.sum", {1, 1, inner});
    Value maximum = model.state(name + "mixer.maximum", {1, inner});
    key = model.reshape(name + "mixer", key, {1, inner});
    value = model.reshape(name + "mixer", value, {1, inner});
    auto op = seq::Rwkv4Op::create(
        model.getBuilder(), model.at(name + "mixer"), value.getType(),
        state.getType(), sum.getType(), maximum.getType(), key, value, decay,
        bonus, state, sum, maximum, /*form=*/nullptr);
    model.setNextState(op.getNextState());
    model.setNextState(op.getNextSum());
    model.setNextState(op.getNextMaximum());
    Value y = model.mul(name + "receptance", gate,
                        model.reshape(name + "mixer", op.getY(), {inner}));
    return model.project(name + "output", source + "output", y,
                         model.getWidth());
  }

  Value emitMlp(const std::string &name, const std::string &source, Value x) {
    Value delta = model.shiftDifference(name + "shift", x);
    Value key = model.activate(
        name + "key", project(name + "key", source, "key", x, delta, hidden),
        seq::Nonlinearity::SquaredRelu);
    Value gate =
        model.activate(name + "receptance",
                       project(name + "receptance", source, "receptance", x,
                               delta, model.getWidth()),
                       seq::Nonlinearity::Sigmoid);
    Value value =
        model.project(name + "value", source + "value", key, model.getWidth());
    return model.mul(name + "value", value, gate);
  }

private:
  /// Of x mix + previous (1 - mix) = x + delta - delta mix.
  Value project(const std::string &name, const std::string &source,
                const char *part, Value x, Value delta, int64_t rows) {
    Value mix = model.vector(name + "_mix", source + "time_mix_" + part,
                             model.getWidth());
    Value away =
        model.mul(name + "_mix", delta, model.broadcast(name, mix, delta));
    Value mixed =
        model.add(name + "_mix", x, model.sub(name + "_mix", delta, away));
    return model.project(name, source + part, mixed, rows);
  }

  ModelBuilder &model;
  int64_t inner, hidden;
};

} // namespace

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importPublicRwkv(FamilyInput &input) {
  ConfigReader &reader = input.config;
  int64_t width = reader.requireInteger("hidden_size", 1, kMostDimension);
  int64_t layers = reader.requireInteger("num_hidden_layers", 1, kMostLayers);
  int64_t inner =
      reader.getIntegerIfSet("attention_hidden_size", 1, kMostDimension)
          .value_or(width);
  int64_t hidden =
      reader.getIntegerIfSet("intermediate_size", 1, kMostDimension)
          .value_or(4 * width);
  NormConfig norm;
  norm.epsilon = reader.getNumber("layer_norm_epsilon", 0, 1, 1e-5);
  norm.centred = norm.bias = true;
  HeadConfig head;
  head.table = "rwkv.embeddings.weight";
  head.head = "head.weight";
  head.tied = reader.getBoolean("tie_word_embeddings", false);
  // The library halves weights and residual every so many layers, for f16's
  // sake and not in training; but for the norms' epsilon nothing changes.
  ignoreHarmless(reader, input.remarks, {"context_length", "rescale_every"});
  if (llvm::Error error = reader.finish())
    return error;
  TextModelConfig text;
  text.family = "rwkv4";
  text.vocabulary = input.vocabulary;
  text.width = width;
  text.head = head;
  text.endNorm = "rwkv.ln_out";
  text.norm = norm;
  // The library makes its last norm without the configuration's epsilon.
  text.norm.epsilon = 1e-5;
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    RwkvEmitter emitter(model, inner, hidden);
    for (int64_t layer = 0; layer < layers; ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "rwkv.blocks." + std::to_string(layer) + ".";
      if (layer == 0)
        x = model.norm(name + "first_norm", source + "pre_ln", x, norm);
      Value mixed = emitter.emitMixer(
          name, source + "attention.",
          model.norm(name + "mixer_norm", source + "ln1", x, norm));
      x = model.add(name + "mixer_residual", x, mixed);
      Value between = emitter.emitMlp(
          name + "mlp.", source + "feed_forward.",
          model.norm(name + "mlp_norm", source + "ln2", x, norm));
      x = model.add(name + "mlp_residual", x, between);
    }
    return x;
  });
}
