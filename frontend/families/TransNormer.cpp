#include "frontend/families/TransNormer.h"

#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct TransNormerConfig {
  int64_t width = 1, layers = 1;
  /// H, and the channels of queries, keys, values and gates.
  int64_t heads = 1, inner = 1, hidden = 1;
  bool bias = false, scaled = true;
  /// Whether a layer's queries and keys learn of positions.
  std::vector<bool> positions;
};

} // namespace

/// Of all norms, which have no weights.
static constexpr double kEpsilon = 1e-6;

static void readPositions(ConfigReader &reader, TransNormerConfig &config) {
  constexpr llvm::StringLiteral kKey = "linear_use_lrpe_list";
  config.positions.assign(size_t(config.layers), false);
  const JsonValue *value = reader.get(kKey);
  if (!value)
    return;
  const JsonArray *flags = value->getArray();
  if (!flags)
    return reader.reportMismatch(kKey, "an array of 0 and 1", *value);
  if (int64_t(flags->size()) != config.layers)
    return reader.report("expects '" + kKey + "' to name " +
                         Twine(config.layers) + " layers, but got " +
                         Twine(flags->size()));
  for (size_t layer = 0; layer < flags->size(); ++layer) {
    std::optional<int64_t> flag = (*flags)[layer].getInteger();
    if (!flag || *flag < 0 || *flag > 1)
      return reader.reportMismatch(kKey, "an array of 0 and 1",
                                   (*flags)[layer]);
    config.positions[layer] = *flag == 1;
  }
}

static TransNormerConfig readTransNormer(FamilyInput &input) {
  ConfigReader &reader = input.config;
  TransNormerConfig config;
  config.width = reader.requireInteger("decoder_embed_dim", 1, kMostDimension);
  config.layers = reader.requireInteger("decoder_layers", 2, kMostLayers);
  config.heads =
      reader.requireInteger("decoder_attention_heads", 1, kMostDimension);
  config.inner = reader.getInteger("hidden_dim", 1, kMostDimension, 1024);
  if (!reader.hasProblem() && config.inner % config.heads != 0)
    reader.report("expects 'hidden_dim' to be a multiple of "
                  "'decoder_attention_heads' " +
                  Twine(config.heads) + ", but got " + Twine(config.inner));
  config.hidden = reader.requireInteger("glu_dim", 1, kMostDimension);
  config.bias = reader.getBoolean("bias", false);
  config.scaled = !reader.getBoolean("no_scale_embedding", false);
  requireOneOf(reader, "linear_act_fun", {"silu", "swish"});
  requireOneOf(reader, "norm_type", {"simplermsnorm"});
  if (!reader.hasProblem())
    readPositions(reader, config);
  ignoreHarmless(reader, input.remarks, {"add_bos_token", "init_std"});
  return config;
}

namespace {

class TransNormerEmitter {
public:
  TransNormerEmitter(ModelBuilder &model, const TransNormerConfig &config)
      : model(model), config(config) {}

  Value norm(const std::string &name, Value x) {
    NormConfig plain;
    plain.epsilon = kEpsilon;
    return model.groupNorm(name, "", x, /*groups=*/1, /*size=*/0, plain);
  }

  Value emitLayer(Value x, int64_t layer) {
    std::string name = "layers." + std::to_string(layer) + ".";
    std::string source = "model." + name;
    Value mixed = emitMixer(name, source + "token_mixer.",
                            norm(name + "mixer_norm", x), layer);
    x = model.add(name + "mixer_residual", x, mixed);
    Value inner = emitProduct(name, source + "channel_mixer.",
                              norm(name + "mlp_norm", x));
    return model.add(name + "mlp_residual", x, inner);
  }

private:
  Value emitMixer(const std::string &name, const std::string &source, Value x,
                  int64_t layer) {
    int64_t inner = config.inner, heads = config.heads,
            channels = inner / heads;
    Value all = model.project(name + "qkvu", source + "qkvu_proj", x, 4 * inner,
                              config.bias);
    auto part = [&](const char *symbol, int64_t number) {
      return model.slice(name + symbol, all, number * inner, inner);
    };
    auto inHeads = [&](Value flat) {
      return model.reshape(name + "mixer", flat, {heads, channels});
    };
    auto positioned = [&](const char *symbol, int64_t number) {
      Value y = inHeads(model.activate(name + symbol, part(symbol, number),
                                       seq::Nonlinearity::Silu));
      if (!config.positions[size_t(layer)])
        return y;
      std::string theta = name + "theta";
      Value angles =
          model.isDeclared(theta)
              ? model.parameter(theta)
              : model.numbers(theta, WeightSource(source + "lrpe.theta"),
                              {heads, channels});
      auto type = llvm::cast<mlir::RankedTensorType>(y.getType());
      auto wide = mlir::RankedTensorType::get(
          {type.getDimSize(0), heads, 2 * channels}, type.getElementType());
      return Value(seq::CosineSineOp::create(model.getBuilder(),
                                             model.at(name + symbol), wide, y,
                                             model.getPositions(), angles));
    };
    Value query = positioned("q", 0), key = positioned("k", 1);
    Value value = inHeads(part("v", 2));
    mlir::OpBuilder &builder = model.getBuilder();
    Value decays = model.computed(
        name + "decays",
        seq::HeadDecaysAttr::get(builder.getContext(), seq::DecayRule::Alibi,
                                 layer, config.layers, /*negated=*/false),
        {heads});
    int64_t keys =
        llvm::cast<mlir::RankedTensorType>(key.getType()).getDimSize(2);
    Value state = model.state(name + "mixer", {heads, keys, channels});
    auto op = seq::RetentionOp::create(
        builder, model.at(name + "mixer"), value.getType(), state.getType(),
        query, key, value, decays, state, llvm::APFloat(1.0),
        /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value y =
        norm(name + "norm", model.reshape(name + "mixer", op.getY(), {inner}));
    y = model.mul(name + "gate", y, part("u", 3));
    return model.project(name + "out", source + "out_proj", y, config.width,
                         config.bias);
  }

  /// Two products, multiplied without a function, and a third.
  Value emitProduct(const std::string &name, const std::string &source,
                    Value x) {
    Value a = model.project(name + "l1", source + "l1", x, config.hidden,
                            config.bias);
    Value b = model.project(name + "l2", source + "l2", x, config.hidden,
                            config.bias);
    return model.project(name + "l3", source + "l3",
                         model.mul(name + "l2", a, b), config.width,
                         config.bias);
  }

  ModelBuilder &model;
  const TransNormerConfig &config;
};

} // namespace

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importTransNormer(FamilyInput &input) {
  TransNormerConfig config = readTransNormer(input);
  TextModelConfig text;
  text.head.tied = input.config.getBoolean("tie_word_embeddings", false);
  if (llvm::Error error = input.config.finish())
    return error;
  text.family = "transnormer";
  text.vocabulary = input.vocabulary;
  text.width = config.width;
  if (config.scaled)
    text.embeddingScale = std::sqrt(double(config.width));
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    TransNormerEmitter emitter(model, config);
    for (int64_t layer = 0; layer < config.layers; ++layer)
      x = emitter.emitLayer(x, layer);
    return emitter.norm("norm", x);
  });
}
