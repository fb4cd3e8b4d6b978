#include "frontend/families/Mamba2.h"

#include "frontend/families/Mamba.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/Mamba2Config.h"
#include "frontend/families/MambaSsmLayers.h"
#include "frontend/model/Head.h"
#include "frontend/model/ModelBuilder.h"
#include "frontend/model/TextModel.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

/// Emits the layers; names are those of the project, sources those of the file.
class Mamba2Emitter {
public:
  /// `normGroups`: over how many groups of channels the gated norm takes its
  /// means.
  Mamba2Emitter(const Mamba2Config &config, const MambaSsmLayers &around,
                int64_t normGroups, ModelBuilder &model)
      : config(config), around(around), normGroups(normGroups), model(model) {}

  Value emitLayer(Value x, int64_t index) {
    return emitMambaSsmLayer(
        model, around, index, x,
        [&](const std::string &name, const std::string &source, Value normed) {
          this->name = name;
          this->source = source;
          return emitMixer(normed);
        });
  }

private:
  /// The rows of in_proj are z, x, B, C, dt, in that order, behind those of
  /// what stands beside the mixer.
  Value emitMixer(Value x) {
    Value projected =
        emitProjection("in_proj", x, config.projected(), config.width);
    int64_t inner = config.inner(), offset = 2 * config.beside;
    auto part = [&](int64_t size) {
      Value y = model.slice(name + "in_proj", projected, offset, size);
      offset += size;
      return y;
    };
    Value gate = part(inner);
    Value convolved = emitConvolution(part(config.convolved()));
    Value dt = part(config.heads);
    Value y = emitGate(emitSsd(convolved, dt), gate);
    if (config.beside > 0)
      y = seq::ConcatOp::create(model.getBuilder(), model.at(name + "beside"),
                                mlir::ValueRange{emitBeside(projected), y},
                                /*axis=*/1);
    return emitProjection("out_proj", y, config.width, config.mixed());
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
    case Mamba2Gate::Alone:
      return gated(y);
    case Mamba2Gate::BehindNorm:
      return gated(model.groupNorm(here, source + "norm", y, normGroups,
                                   config.inner(), norm));
    case Mamba2Gate::BeforeNorm:
      return seq::GatedRmsNormOp::create(
          model.getBuilder(), model.at(here), y.getType(), y, gate,
          model.vector(here, source + "norm.weight", config.inner()),
          llvm::APFloat(config.epsilon), normGroups);
    }
    llvm_unreachable("every order is listed");
  }

  Value emitProjection(const std::string &part, Value x, int64_t rows,
                       int64_t columns) {
    Value weight =
        model.matrix(name + part, source + part + ".weight", rows, columns);
    Value bias;
    if (config.projectionBias)
      bias = model.vector(name + part + "_bias", source + part + ".bias", rows);
    return model.linear(name + part, x, weight, bias);
  }

  Value emitConvolution(Value x) {
    int64_t channels = config.convolved();
    Value taps = model.taps(name + "conv", source + "conv1d.weight",
                            config.window, channels);
    Value bias;
    if (config.convolutionBias)
      bias = model.vector(name + "conv_bias", source + "conv1d.bias", channels);
    return model.shortConvolution(name + "conv", x, taps, bias,
                                  seq::Activation::Silu);
  }

  /// The mixed tokens [T, H V].
  Value emitSsd(Value convolved, Value dt) {
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

  const Mamba2Config &config;
  const MambaSsmLayers &around;
  int64_t normGroups;
  ModelBuilder &model;
  std::string name, source;
};

} // namespace

/// Over how many groups of channels the gated norm takes its means.
static int64_t chooseNormGroups(const Mamba2Config &config,
                                FamilyInput &input) {
  if (config.gate == Mamba2Gate::Alone) {
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

static llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
build(const Mamba2Config &config, const MambaSsmLayers &around,
      FamilyInput &input) {
  TextModelConfig text;
  text.family = "mamba2";
  text.vocabulary = config.vocabulary;
  text.width = config.width;
  text.head.table = config.table.str();
  text.head.tied = config.tied;
  text.head.mayDiffer = config.headMayDiffer;
  text.head.key =
      config.headMayDiffer ? "tie_word_embeddings" : "tie_embeddings";
  text.endNorm = "backbone.norm_f";
  text.norm = around.norm;
  text.context = around.context;
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    Mamba2Emitter emitter(config, around, chooseNormGroups(config, input),
                          model);
    for (int64_t layer = 0; layer < config.layers; ++layer)
      x = emitter.emitLayer(x, layer);
    return x;
  });
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
frontend::importMamba2(FamilyInput &input) {
  auto config = readMamba2Config(input.config, input.vocabulary, input.remarks);
  if (!config)
    return config.takeError();
  MambaSsmLayers around;
  around.norm.epsilon = config->epsilon;
  return build(*config, around, input);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
frontend::importMambaSsm(FamilyInput &input) {
  // The package's default is its first mixer.
  const JsonValue *mixer = input.config.get("ssm_cfg");
  const JsonObject *arguments = mixer ? mixer->getObject() : nullptr;
  const JsonValue *layer = arguments ? arguments->find("layer") : nullptr;
  const std::string *name = layer ? layer->getString() : nullptr;
  if (arguments && (!layer || (name && *name == "Mamba1")))
    return importMambaSsm1(input);
  ConfigReader &reader = input.config;
  MambaSsmLayers around = readMambaSsmLayers(
      input, reader.requireInteger("d_model", 1, kMostMamba2Dimension),
      reader.requireInteger("n_layer", 1, kMostMamba2Layers));
  auto config = readMambaSsmConfig(reader, input.vocabulary, input.remarks);
  if (!config)
    return config.takeError();
  return build(*config, around, input);
}
