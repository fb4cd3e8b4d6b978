#include "frontend/model/LogLinear.h"

#include "frontend/model/InverseFunctions.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

/// A level takes tokens in and is read as the bits of their positions say, which
/// a table has as numbers. So each level of a head is a head of gated retention,
/// whose values are 0 while the level is read only, and which forgets all where
/// it begins anew.
class LevelEmitter {
public:
  LevelEmitter(ModelBuilder &model, const StateSpaceConfig &config,
               const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source),
        here(name + "levels") {}

  Value emit(const LevelTokens &tokens) {
    int64_t heads = config.heads, levels = config.levels,
            values = config.values;
    Value step = emitStep(tokens.step);
    Value written = contract(
        step, "th", table("written", seq::FenwickNumber::Written), "tl", "thl");
    Value value = model.reshape(
        here, contract(written, "thl", tokens.value, "thp", "thlp"),
        {heads * levels, values});
    Value state = model.state(here, {heads * levels, config.keys, values});
    auto op = seq::GatedRetentionOp::create(
        model.getBuilder(), model.at(here), value.getType(), state.getType(),
        tokens.query, tokens.key, value, emitGate(step, written), state,
        /*scale=*/llvm::APFloat(1.0), /*temperature=*/llvm::APFloat(1.0),
        /*form=*/nullptr);
    model.setNextState(op.getNextState());
    Value read = model.reshape(here, op.getY(), {heads, levels, values});
    Value weighted = model.reshape(
        here, contract(emitWeight(tokens.weight), "thl", read, "thlp", "thlp"),
        {heads, levels * values});
    Value sum = model.slice(here, weighted, 0, values);
    for (int64_t level = 1; level < levels; ++level)
      sum = model.add(here, sum,
                      model.slice(here, weighted, level * values, values));
    return sum;
  }

private:
  /// [T, L]: what the positions of tokens say of the levels.
  Value table(const char *part, seq::FenwickNumber number) {
    auto rule =
        seq::FenwickLevelsAttr::get(model.getBuilder().getContext(), number);
    Value numbers = model.computed(std::string("levels.") + part, rule,
                                   {model.getLongest(), config.levels});
    return model.embedding(here + "." + part, model.getPositions(), numbers);
  }

  Value contract(Value a, llvm::StringRef aLetters, Value b,
                 llvm::StringRef bLetters, llvm::StringRef letters) {
    return seq::ContractOp::create(model.getBuilder(), model.at(here), a,
                                   aLetters, b, bLetters, letters);
  }

  /// `x` for the dimensions of `like` that it lacks.
  Value repeat(Value x, Value like, llvm::ArrayRef<int64_t> dimensions) {
    return seq::BroadcastOp::create(model.getBuilder(), model.at(here), x, like,
                                    dimensions);
  }

  /// [T, H]
  Value emitStep(Value step) {
    Value bias =
        model.vector(name + "dt_bias", source + "dt_bias", config.heads);
    return model.elementwise<seq::SoftplusOp>(
        here, model.add(here, step, model.broadcast(here, bias, step)));
  }

  /// Gates [T, H L] whose log sigmoid is the log-decay -e^a_log step, or that of
  /// a level that begins anew.
  Value emitGate(Value step, Value like) {
    // What decays less does not decay in f32.
    constexpr double kMost = 87;
    WeightSource from(source + "A_log");
    from.derived =
        seq::DerivationAttr::get(model.getBuilder().getContext(),
                                 seq::DerivationRule::NegatedExponential, 0);
    Value rate = model.numbers(name + "a_log", from, {config.heads});
    Value decay = model.mul(here, step, model.broadcast(here, rate, step));
    Value gate = model.elementwise<seq::NegOp>(
        here, beforeSoftplus(model, here,
                             model.elementwise<seq::NegOp>(here, decay)));
    gate = seq::ClampOp::create(
        model.getBuilder(), model.at(here), gate.getType(), gate,
        /*lower=*/mlir::FloatAttr(), model.getBuilder().getF64FloatAttr(kMost));
    Value forgotten = table("forgotten", seq::FenwickNumber::Forgotten);
    return model.reshape(here,
                         model.add(here, repeat(gate, like, {0, 1}),
                                   repeat(forgotten, like, {0, 2})),
                         {config.heads * config.levels});
  }

  /// [T, H, L]: 0 where a level is not read.
  Value emitWeight(Value weight) {
    int64_t all = config.heads * config.levels;
    WeightSource factors(source + "L");
    factors.stored = {config.heads, config.levels};
    Value factor = model.numbers(name + "level_factors", factors, {all});
    weight = model.elementwise<seq::SoftplusOp>(
        here, model.mul(here, weight, model.broadcast(here, factor, weight)));
    weight = model.reshape(here, weight, {config.heads, config.levels});
    return model.mul(
        here, weight,
        repeat(table("read", seq::FenwickNumber::Read), weight, {0, 2}));
  }

  ModelBuilder &model;
  const StateSpaceConfig &config;
  const std::string &name, &source;
  std::string here;
};

} // namespace

Value effc::frontend::emitLevels(ModelBuilder &model,
                                 const StateSpaceConfig &config,
                                 const std::string &name,
                                 const std::string &source,
                                 const LevelTokens &tokens) {
  return LevelEmitter(model, config, name, source).emit(tokens);
}
