#include "frontend/model/ClampedExperts.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

/// The experts that each token takes, in the phases of a retrieval: no mixer has
/// experts with biases.
class Emitter {
public:
  Emitter(ModelBuilder &model, const ClampedExpertsConfig &config,
          const std::string &name, const std::string &source, Value x)
      : model(model), builder(model.getBuilder()), config(config), name(name),
        source(source), x(x),
        isApart(model.hasTensor(source + "experts.gate_proj.weight") ||
                model.hasTensor(source + "experts.up_proj.weight")) {}

  Value emit() {
    choose();
    // Each step is taken in by the kernel of the one before: g sigmoid(slope g) is
    // silu(slope g) / slope.
    std::string gateName = name + ".gate", upName = name + ".up";
    Value gate = model.scale(gateName, bound(half("gate", 0), /*below=*/false),
                             config.slope);
    gate = model.scale(gateName,
                       model.activate(gateName, gate, seq::Nonlinearity::Silu),
                       1 / config.slope);
    Value up = bound(half("up", 1), /*below=*/true);
    up = model.add(upName, up, forUnits(ones));
    Value hidden = model.mul(upName, up, gate);
    hidden = model.mul(upName, hidden, forUnits(weights));
    return add(hidden);
  }

private:
  void choose() {
    Value logits =
        model.project(MatrixRole::Router, name + ".router", source + "router",
                      x, config.experts, /*bias=*/true);
    logits = model.reshape(name, logits, {1, 1, config.experts});
    auto chosen = seq::ChooseRowsOp::create(builder, model.at(name), logits,
                                            /*order=*/Value(), config.taken,
                                            seq::RetrievalWeighting::Softmax);
    weights = chosen.getWeights();
    rows = chosen.getRows();
    // Whatever is weighed by it is as it is. Weights lie below 1.
    ones = clamp(weights, 1, 1);
  }

  Value clamp(Value value, std::optional<double> lower, double upper) {
    return seq::ClampOp::create(builder, model.at(name), value.getType(), value,
                                lower ? builder.getF64FloatAttr(*lower)
                                      : mlir::FloatAttr(),
                                builder.getF64FloatAttr(upper));
  }

  /// A number of each expert taken [T, J] for all of its units. What it is like is
  /// no value that a kernel has as its last, which has one use then.
  Value forUnits(Value number) {
    return seq::BroadcastOp::create(builder, model.at(name), number, like,
                                    llvm::ArrayRef<int64_t>{0, 1});
  }

  Value bound(Value units, bool below) {
    return clamp(units,
                 below ? std::optional<double>(-config.limit) : std::nullopt,
                 config.limit);
  }

  /// What one table's rows make of `token` for each expert taken, [T, J, F].
  Value units(const Twine &part, Value token, Value table) {
    auto type = mlir::RankedTensorType::get(
        {mlir::ShapedType::kDynamic, config.taken, config.hidden},
        builder.getF32Type());
    return seq::ExpertHiddenOp::create(
        builder, model.at(part), type, token, ones, rows, table,
        seq::Nonlinearity::Identity, /*gated=*/false, /*weight_inside=*/false);
  }

  /// Gates (`which` is 0) or ups (1), with their biases.
  Value half(llvm::StringRef part, int64_t which) {
    int64_t count = config.experts * config.hidden;
    std::string inner = (name + "." + part).str();
    WeightSource matrix(source + "experts.gate_up_proj"),
        bias(source + "experts.gate_up_proj_bias");
    if (isApart) {
      std::string tensor = (source + "experts." + part + "_proj.").str();
      matrix = WeightSource(tensor + "weight");
      matrix.stored = {config.experts, config.hidden, model.getWidth()};
      bias = WeightSource(tensor + "bias");
      bias.stored = {config.experts, config.hidden};
    } else { // in turn, a row each
      matrix.rows = bias.rows = model.rows(which, 1, 2, count);
      bias.stored = {config.experts, 2 * config.hidden};
    }
    // The rows of a bias have one channel, which takes a token of one 1.
    like = units(inner + "_bias", model.slice(inner, ones, 0, 1),
                 model.numbers(inner + "_bias", bias, {count, 1}));
    Value sums =
        units(inner, x, model.matrix(inner, matrix, count, model.getWidth()));
    return model.add(inner, sums, like);
  }

  Value add(Value hidden) {
    int64_t width = model.getWidth();
    std::string inner = name + ".down", tensor = source + "experts.down_proj";
    WeightSource from(tensor);
    if (isApart) {
      from = WeightSource(tensor + ".weight");
      from.stored = {config.experts, width, config.hidden};
    }
    Value matrix = model.matrix(MatrixRole::Down, inner, from,
                                width * config.experts, config.hidden);
    Value bias = model.numbers(
        inner + "_bias", WeightSource(tensor + (isApart ? ".bias" : "_bias")),
        {config.experts, width});
    Value y = seq::ExpertOutputOp::create(builder, model.at(inner), x.getType(),
                                          hidden, rows, matrix);
    return model.add(
        inner, y,
        seq::SumRowsOp::create(builder, model.at(inner), weights, rows, bias));
  }

  ModelBuilder &model;
  mlir::OpBuilder &builder;
  const ClampedExpertsConfig &config;
  const std::string &name, &source;
  Value x, weights, rows, ones, like;
  bool isApart;
};

} // namespace

Value effc::frontend::emitClampedExperts(ModelBuilder &model,
                                         const ClampedExpertsConfig &config,
                                         const std::string &name,
                                         const std::string &source, Value x) {
  return Emitter(model, config, name, source, x).emit();
}
