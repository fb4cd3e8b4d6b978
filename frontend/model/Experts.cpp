#include "frontend/model/Experts.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Mlp.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

ExpertsConfig effc::frontend::readExperts(ConfigReader &reader,
                                          bool normalised) {
  ExpertsConfig config;
  // Release 5 writes one for the other.
  llvm::StringRef key =
      reader.isSet("num_local_experts") ? "num_local_experts" : "num_experts";
  config.experts = reader.requireInteger(key, 1, kMostExperts);
  config.taken =
      reader.requireInteger("num_experts_per_tok", 1, kMostDimension);
  config.hidden =
      reader.requireInteger("moe_intermediate_size", 1, kMostDimension);
  config.normalised = reader.getBoolean("norm_topk_prob", normalised);
  if (!reader.hasProblem() && config.taken > config.experts)
    reader.report("expects 'num_experts_per_tok' up to " + quote(key) + " " +
                  Twine(config.experts) + ", but got " + Twine(config.taken));
  return config;
}

ExpertsPattern effc::frontend::readExpertsPattern(ConfigReader &reader,
                                                  int64_t layers) {
  constexpr llvm::StringLiteral kKey = "mlp_only_layers";
  ExpertsPattern pattern;
  pattern.period = reader.getInteger("decoder_sparse_step", 1, kMostLayers, 1);
  if (!reader.isSet(kKey))
    return pattern;
  const JsonValue *value = reader.get(kKey);
  const JsonArray *list = value->getArray();
  if (!list) {
    reader.reportMismatch(kKey, "an array of layers", *value);
    return pattern;
  }
  for (const JsonValue &element : *list) {
    std::optional<int64_t> layer = element.getInteger();
    if (!layer || *layer < 0 || *layer >= layers)
      reader.reportMismatch(kKey, "layers from 0 to " + Twine(layers - 1),
                            element);
    else
      pattern.without.push_back(*layer);
  }
  return pattern;
}

/// The gated layer that every token passes.
static Value emitShared(ModelBuilder &model, const ExpertsConfig &config,
                        const ExpertsNames &names, Value x) {
  MlpConfig mlp{config.shared, config.activation};
  MlpNames inner{names.name + ".shared",
                 names.source + names.shared.str() + "."};
  Value y = emitMlp(model, mlp, inner, x);
  if (names.sharedGate.empty())
    return y;
  std::string gateName = names.name + ".shared_gate";
  Value gate = model.activate(
      gateName, model.project(gateName, names.source + names.sharedGate, x, 1),
      seq::Nonlinearity::Sigmoid);
  return model.mul(gateName, y, model.spread(gateName, gate, y));
}

namespace {

/// What a router says of each expert, [T, E]. Without `order` experts are
/// chosen by their scores.
struct Routing {
  Value scores, order;
  seq::RetrievalWeighting weighting;
};

} // namespace

static Routing route(ModelBuilder &model, const ExpertsConfig &config,
                     const ExpertsNames &names, Value x) {
  std::string name = names.name + ".router",
              source = names.source + names.router.str();
  Value logits = model.project(name, source, x, config.experts);
  if (config.score == RouterScore::Softmax && !config.balanced)
    return {logits,
            {},
            config.normalised ? seq::RetrievalWeighting::Softmax
                              : seq::RetrievalWeighting::SoftmaxAll};
  // One expert's share of itself would be 1: the public routers leave it.
  Routing routing{{},
                  {},
                  config.normalised && config.taken > 1
                      ? seq::RetrievalWeighting::Share
                      : seq::RetrievalWeighting::Score};
  routing.scores =
      config.score == RouterScore::Sigmoid
          ? model.activate(name, logits, seq::Nonlinearity::Sigmoid)
          : model.elementwise<seq::SoftmaxOp>(name, logits);
  if (config.balanced) {
    Value bias = model.vector(
        name + "_bias", source + ".e_score_correction_bias", config.experts);
    routing.order = model.add(name, routing.scores,
                              model.broadcast(name, bias, routing.scores));
  }
  return routing;
}

Value effc::frontend::emitExperts(ModelBuilder &model,
                                  const ExpertsConfig &config,
                                  const ExpertsNames &names, Value x) {
  const std::string &name = names.name;
  int64_t width = model.getWidth();
  std::vector<std::string> inner, outer;
  for (int64_t expert = 0; expert < config.experts; ++expert) {
    std::string prefix =
        (names.source + names.experts + "." + llvm::Twine(expert) + ".").str();
    inner.push_back(prefix + names.gate.str() + ".weight");
    inner.push_back(prefix + names.up.str() + ".weight");
    outer.push_back(prefix + names.down.str() + ".weight");
  }
  Value gateUp = model.matrix(name + ".gate_up", WeightSource(std::move(inner)),
                              2 * config.hidden * config.experts, width);
  Value down = model.matrix(name + ".down", WeightSource(std::move(outer)),
                            width * config.experts, config.hidden);
  Routing routing = route(model, config, names, x);
  Value y = seq::RoutedExpertsOp::create(
      model.getBuilder(), model.at(name), x.getType(), x, routing.scores,
      routing.order, gateUp, down, config.taken, config.activation,
      routing.weighting, /*form=*/nullptr);
  if (config.scale != 1)
    y = model.scale(name, y, config.scale);
  if (config.shared > 0)
    y = model.add(name, y, emitShared(model, config, names, x));
  return y;
}
