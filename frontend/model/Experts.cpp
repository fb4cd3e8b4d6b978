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

ExpertsConfig effc::frontend::readLocalExperts(ConfigReader &reader,
                                               int64_t hidden, int64_t taken) {
  ExpertsConfig config;
  config.experts = reader.requireInteger("num_local_experts", 1, kMostExperts);
  config.taken =
      reader.getInteger("num_experts_per_tok", 1, kMostExperts, taken);
  config.hidden = hidden;
  if (!reader.hasProblem() && config.taken > config.experts)
    reader.report("expects 'num_experts_per_tok' up to 'num_local_experts' " +
                  Twine(config.experts) + ", but got " + Twine(config.taken));
  return config;
}

void effc::frontend::readExpertGroups(
    ConfigReader &reader, ExpertsConfig &config, llvm::StringRef groups,
    llvm::StringRef taken, int64_t groupsOtherwise, int64_t takenOtherwise) {
  // null is no grouping, whatever an absent key stands for.
  auto read = [&](llvm::StringRef key, int64_t otherwise) {
    return reader.getIntegerIfSet(key, 1, kMostExperts)
        .value_or(reader.get(key) ? 1 : otherwise);
  };
  config.groups = read(groups, groupsOtherwise);
  config.groupsTaken = read(taken, takenOtherwise);
  if (reader.hasProblem())
    return;
  if (config.groupsTaken > config.groups)
    return reader.report("expects " + quote(taken) + " up to " + quote(groups) +
                         " " + Twine(config.groups) + ", but got " +
                         Twine(config.groupsTaken));
  int64_t each = config.experts / config.groups;
  if (config.groups > 1 &&
      (config.experts % config.groups != 0 || each < config.groupBest))
    return reader.report(
        "expects " + quote(groups) + " to share the experts evenly, " +
        (config.groupBest == 1 ? "one" : "two") + " or more in each, but got " +
        Twine(config.groups) + " for " + Twine(config.experts));
  if (config.taken > config.groupsTaken * each)
    reader.report("expects a token to take its experts from " + quote(taken) +
                  " groups, but got " + Twine(config.taken) + " of " +
                  Twine(config.groupsTaken) + " * " + Twine(each));
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

/// The layer that every token passes.
static Value emitShared(ModelBuilder &model, const ExpertsConfig &config,
                        const ExpertsNames &names, Value x) {
  MlpConfig mlp{config.shared, config.activation, config.bias};
  MlpNames inner{names.name + ".shared",
                 names.source + names.shared.str() + "."};
  if (!config.gated)
    inner.gate = "";
  Value y = emitMlp(model, mlp, inner, x);
  if (names.sharedGate.empty())
    return y;
  std::string gateName = names.name + ".shared_gate";
  Value gate =
      model.activate(gateName,
                     model.project(MatrixRole::SharedGate, gateName,
                                   names.source + names.sharedGate, x, 1),
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

/// What experts are chosen by, with those of other groups than the ones taken far
/// below: `order` [T, E].
static Value limitGroups(ModelBuilder &model, const ExpertsConfig &config,
                         const std::string &name, Value order) {
  mlir::OpBuilder &builder = model.getBuilder();
  int64_t groups = config.groups, each = config.experts / groups;
  auto best = [&](Value scores, int64_t heads, int64_t columns, int64_t count) {
    return seq::ChooseRowsOp::create(
               builder, model.at(name),
               model.reshape(name, scores, {1, heads, columns}),
               /*order=*/Value(), count, seq::RetrievalWeighting::Score)
        .getWeights();
  };
  int64_t counted = config.groupBest;
  Value first = model.reshape(name, best(order, groups, each, counted),
                              {groups, counted});
  Value sums = model.slice(name, first, 0, 1);
  if (counted == 2)
    sums = model.add(name, sums, model.slice(name, first, 1, 1));
  sums = model.reshape(name, sums, {groups});
  // The last of those taken, best first.
  Value least = model.slice(name, best(sums, 1, groups, config.groupsTaken),
                            config.groupsTaken - 1, 1);
  Value behind = model.sub(name, sums, model.spread(name, least, sums));
  // Any difference becomes the whole distance.
  behind = model.scale(name, behind, 1e38);
  Value distance = seq::ClampOp::create(
      builder, model.at(name), behind.getType(), behind,
      builder.getF64FloatAttr(-1e30), builder.getF64FloatAttr(0));
  Value inGroups = model.reshape(name, order, {groups, each});
  Value limited = model.add(
      name, inGroups,
      seq::BroadcastOp::create(builder, model.at(name), distance, inGroups,
                               llvm::ArrayRef<int64_t>{0, 1}));
  return model.reshape(name, limited, {config.experts});
}

static Routing route(ModelBuilder &model, const ExpertsConfig &config,
                     const ExpertsNames &names, Value x) {
  std::string name = names.name + ".router",
              source = names.source + names.router.str();
  Value logits =
      model.project(MatrixRole::Router, name, source, x, config.experts);
  if (config.score == RouterScore::Softmax && !config.balanced &&
      config.groups == 1)
    return {logits,
            {},
            config.normalised ? seq::RetrievalWeighting::Softmax
                              : seq::RetrievalWeighting::SoftmaxAll};
  // One expert's share of itself would be 1: the public routers leave it.
  bool isShare = config.normalised &&
                 (config.taken > 1 || config.sharesAlone) &&
                 config.shareEpsilon == 0;
  Routing routing{{},
                  {},
                  isShare ? seq::RetrievalWeighting::Share
                          : seq::RetrievalWeighting::Score};
  routing.scores =
      config.score == RouterScore::Sigmoid
          ? model.activate(name, logits, seq::Nonlinearity::Sigmoid)
          : model.elementwise<seq::SoftmaxOp>(name, logits);
  if (config.balanced) {
    std::string tensor = names.balance.empty()
                             ? source + ".e_score_correction_bias"
                             : names.source + names.balance.str();
    Value bias = model.vector(name + "_bias", tensor, config.experts);
    routing.order = model.add(name, routing.scores,
                              model.broadcast(name, bias, routing.scores));
  }
  if (config.groups > 1)
    routing.order = limitGroups(model, config, name + "_groups",
                                routing.order ? routing.order : routing.scores);
  return routing;
}

ExpertWeights effc::frontend::declareExperts(ModelBuilder &model,
                                             const ExpertsConfig &config,
                                             const ExpertsNames &names,
                                             int64_t width) {
  const std::string &name = names.name;
  int64_t count = config.experts, units = config.hidden,
          rows = config.gated ? 2 * units : units;
  auto declare = [&](const WeightSource &inner, const WeightSource &outer) {
    return ExpertWeights{
        model.matrix(name + (config.gated ? ".gate_up" : ".up"), inner,
                     rows * count, width),
        model.matrix(MatrixRole::Down, name + ".down", outer, width * count,
                     units)};
  };
  llvm::StringRef all = config.gated ? names.allGateUps : names.allUps;
  std::string allInner = names.source + all.str(),
              allOuter = names.source + names.allDowns.str();
  if (model.hasTensor(allInner) || model.hasTensor(allOuter)) {
    WeightSource inner(allInner), outer(allOuter);
    inner.stored = {count, rows, width};
    outer.stored = {count, width, units};
    return declare(inner, outer);
  }
  std::vector<std::string> inner, outer;
  for (int64_t expert = 0; expert < count; ++expert) {
    std::string prefix =
        (names.source + names.experts + "." + Twine(expert) + ".").str();
    if (config.gated)
      inner.push_back(prefix + names.gate.str() + ".weight");
    inner.push_back(prefix + names.up.str() + ".weight");
    outer.push_back(prefix + names.down.str() + ".weight");
  }
  return declare(WeightSource(std::move(inner)),
                 WeightSource(std::move(outer)));
}

/// The experts that a token takes, and their weights, [T, J] each.
static seq::ChooseRowsOp choose(ModelBuilder &model,
                                const ExpertsConfig &config,
                                const std::string &name,
                                const Routing &routing) {
  auto ofOneHead = [&](Value scores) {
    return scores ? model.reshape(name, scores, {1, 1, config.experts})
                  : scores;
  };
  return seq::ChooseRowsOp::create(
      model.getBuilder(), model.at(name), ofOneHead(routing.scores),
      ofOneHead(routing.order), config.taken, routing.weighting);
}

Value effc::frontend::emitChosenExperts(ModelBuilder &model,
                                        const ExpertsConfig &config,
                                        const std::string &name,
                                        const ExpertWeights &weights,
                                        Value shares, Value rows, Value x) {
  mlir::OpBuilder &builder = model.getBuilder();
  auto type = mlir::RankedTensorType::get(
      {mlir::ShapedType::kDynamic, config.taken, config.hidden},
      builder.getF32Type());
  Value hidden = seq::ExpertHiddenOp::create(
      builder, model.at(name), type, x, shares, rows, weights.inner,
      config.activation, config.gated, /*weight_inside=*/false);
  return seq::ExpertOutputOp::create(builder, model.at(name), x.getType(),
                                     hidden, rows, weights.outer);
}

/// The sum of what the experts taken make of x. Without gates it is written in
/// the phases of a retrieval, since no mixer is of such experts.
static Value emitTaken(ModelBuilder &model, const ExpertsConfig &config,
                       const std::string &name, const ExpertWeights &weights,
                       const Routing &routing, Value x) {
  if (config.gated)
    return seq::RoutedExpertsOp::create(
        model.getBuilder(), model.at(name), x.getType(), x, routing.scores,
        routing.order, weights.inner, weights.outer, config.taken,
        config.activation, routing.weighting, /*form=*/nullptr);
  seq::ChooseRowsOp chosen = choose(model, config, name, routing);
  return emitChosenExperts(model, config, name, weights, chosen.getWeights(),
                           chosen.getRows(), x);
}

/// `y` [T, D], divided by the sum of what its experts were weighed with and the
/// epsilon.
static Value divideByShares(ModelBuilder &model, const ExpertsConfig &config,
                            const std::string &name, const Routing &routing,
                            Value y) {
  Value weights = choose(model, config, name, routing).getWeights();
  Value sum = model.linear(
      name, weights, model.constant("shares", 1, {1, config.taken}),
      model.constant("least_share", config.shareEpsilon, {1}));
  return seq::DivOp::create(model.getBuilder(), model.at(name), y,
                            model.spread(name, sum, y));
}

Value effc::frontend::emitExperts(ModelBuilder &model,
                                  const ExpertsConfig &config,
                                  const ExpertsNames &names, Value x) {
  const std::string &name = names.name;
  int64_t width = model.getWidth();
  bool isLatent = config.latent > 0;
  ExpertWeights weights =
      declareExperts(model, config, names, isLatent ? config.latent : width);
  Routing routing = route(model, config, names, x);
  Value inner = x;
  if (isLatent)
    inner = model.project(name + ".latent_in", names.source + names.latentIn, x,
                          config.latent, config.bias);
  Value y = emitTaken(model, config, name, weights, routing, inner);
  if (config.normalised && config.shareEpsilon > 0)
    y = divideByShares(model, config, name, routing, y);
  if (config.scale != 1)
    y = model.scale(name, y, config.scale);
  if (isLatent)
    y = model.project(name + ".latent_out", names.source + names.latentOut, y,
                      width, config.bias);
  if (config.shared > 0)
    y = model.add(name, y, emitShared(model, config, names, x));
  return y;
}
