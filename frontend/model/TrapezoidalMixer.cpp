#include "frontend/model/TrapezoidalMixer.h"

#include <numbers>

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

namespace {

/// Names are those of the project, sources those of the file.
class TrapezoidalEmitter {
public:
  TrapezoidalEmitter(const TrapezoidalConfig &config, const std::string &name,
                     const std::string &source, ModelBuilder &model)
      : config(config), name(name), source(source), model(model) {}

  Value emit(Value x) {
    Value projected = model.project(name + "in_proj", source + "in_proj", x,
                                    config.projected(), config.bias);
    int64_t offset = 0;
    auto part = [&](int64_t size) {
      Value y = model.slice(name + "in_proj", projected, offset, size);
      offset += size;
      return y;
    };
    int64_t heads = config.heads;
    Value gate = part(config.inner());
    Value values = model.reshape(name + "mixer", part(config.inner()),
                                 {heads, config.values});
    Heads keys = emitHeads("B", part(config.groupKeys()));
    Heads queries = emitHeads("C", part(config.groupKeys()));
    Value dt = emitTimeStep(part(heads));
    Value rate = emitRate(part(heads));
    Value share = part(heads);
    Turn turn = emitTurn(part(config.pairs), dt);
    Value y = emitRecurrence(values, dt, rate, share, emitTurned(keys, turn),
                             emitTurned(queries, turn));
    return model.project(name + "out_proj", source + "out_proj",
                         emitGate(y, gate), model.getWidth(), config.bias);
  }

private:
  /// Cosine and sine of the running angle, [T, H, pairs].
  struct Turn {
    Value cosine, sine;
  };

  /// Keys or queries of all heads: [T, H 2 pairs], and [T, H (K - 2 pairs)],
  /// which do not turn; null where all do.
  struct Heads {
    Value turning, still;
  };

  mlir::OpBuilder &builder() { return model.getBuilder(); }

  /// Keys or queries: normalised in their group, with a bias in each head of
  /// it.
  Heads emitHeads(const std::string &tensor, Value grouped) {
    std::string here = name + tensor;
    int64_t turning = 2 * config.pairs, heads = config.heads;
    NormConfig norm;
    norm.epsilon = config.epsilon;
    Value normed = model.groupNorm(here + "_norm", source + tensor + "_norm",
                                   grouped, config.groups, config.keys, norm);
    // The same channels of each head, so that they lie densely.
    auto part = [&](const char *which, int64_t offset, int64_t size) -> Value {
      if (size == 0)
        return {};
      llvm::SmallVector<Value> each;
      for (int64_t group = 0; group < config.groups; ++group)
        each.append(
            size_t(heads / config.groups),
            model.slice(here, normed, group * config.keys + offset, size));
      Value all = each.size() == 1
                      ? each.front()
                      : seq::ConcatOp::create(builder(), model.at(here), each,
                                              /*axis=*/1);
      WeightSource from(source + tensor + "_bias");
      from.stored = {heads, 1, config.keys};
      from.rows = model.rows(offset, size, config.keys, heads);
      Value bias = model.numbers(here + "_bias" + which, from, {heads * size});
      return model.add(here, all, model.broadcast(here, bias, all));
    };
    return {part("", 0, turning),
            part("_still", turning, config.keys - turning)};
  }

  Value emitTimeStep(Value dt) {
    std::string here = name + "dt";
    Value bias =
        model.vector(name + "dt_bias", source + "dt_bias", config.heads);
    return model.elementwise<seq::SoftplusOp>(
        here, model.add(here, dt, model.broadcast(here, bias, dt)));
  }

  /// [T, H], at least the least rate.
  Value emitRate(Value a) {
    std::string here = name + "rate";
    Value rate = config.rate == RateActivation::Softplus
                     ? model.elementwise<seq::SoftplusOp>(here, a)
                     : emitHeavyTail(here, a);
    return seq::ClampOp::create(builder(), model.at(here), rate.getType(), rate,
                                builder().getF64FloatAttr(config.leastRate),
                                /*upper=*/nullptr);
  }

  /// relu(x) + 1 / (1 + relu(-x))
  Value emitHeavyTail(const std::string &here, Value x) {
    auto relu = [&](Value y) {
      return model.activate(here, y, seq::Nonlinearity::Relu);
    };
    // Between 1 and 1: a number of tokens has to come from tokens.
    mlir::FloatAttr unit = builder().getF64FloatAttr(1);
    Value one = seq::ClampOp::create(builder(), model.at(here), x.getType(), x,
                                     unit, unit);
    Value below =
        model.add(here, one, relu(model.elementwise<seq::NegOp>(here, x)));
    return model.add(here, relu(x),
                     seq::DivOp::create(builder(), model.at(here), one, below));
  }

  /// Tokens turn each pair by pi tanh(angle) dt, the same angles in each head
  /// and a time step of its own.
  Turn emitTurn(Value angles, Value dt) {
    std::string here = name + "angle";
    Value bounded = model.scale(
        here, model.elementwise<seq::TanhOp>(here, angles), std::numbers::pi);
    Value angle = seq::ContractOp::create(builder(), model.at(here), bounded,
                                          "tp", dt, "th", "thp");
    return {emitRunning(name + "cosine", angle, 0),
            emitRunning(name + "sine", angle, -std::numbers::pi / 2)};
  }

  Value emitRunning(const std::string &here, Value angle, double phase) {
    llvm::SmallVector<int64_t> shape = {config.heads, 1, config.pairs};
    Value real = model.state(here, shape);
    Value imaginary = model.state(here + "_imaginary", shape);
    auto op = seq::RunningTurnOp::create(
        builder(), model.at(here), angle.getType(), real.getType(),
        imaginary.getType(), angle, real, imaginary, llvm::APFloat(phase),
        /*form=*/nullptr);
    model.setNextState(op.getNextState());
    model.setNextState(op.getNextStateImaginary());
    return op.getY();
  }

  /// [T, H, K] with its pairs of neighbours turned. Their first parts stand
  /// before their second ones: keys and queries meet in products alone, which
  /// know no order.
  Value emitTurned(const Heads &x, const Turn &turn) {
    std::string here = name + "turned";
    int64_t heads = config.heads, pairs = config.pairs;
    Value paired = model.reshape(here, x.turning, {heads, pairs, 2});
    Value first = model.slice(here, paired, 0, 1),
          second = model.slice(here, paired, 1, 1);
    auto product = [&](Value a, Value b) {
      return model.mul(here, a, model.reshape(here, b, {heads, pairs, 1}));
    };
    auto inHeads = [&](Value flat, int64_t channels) {
      return model.reshape(here, flat, {heads, channels});
    };
    llvm::SmallVector<Value> parts = {
        inHeads(model.sub(here, product(first, turn.cosine),
                          product(second, turn.sine)),
                pairs),
        inHeads(model.add(here, product(first, turn.sine),
                          product(second, turn.cosine)),
                pairs)};
    if (x.still)
      parts.push_back(inHeads(x.still, config.keys - 2 * pairs));
    return seq::ConcatOp::create(builder(), model.at(here), parts, /*axis=*/2);
  }

  Value emitRecurrence(Value x, Value dt, Value rate, Value share, Value b,
                       Value c) {
    std::string here = name + "mixer";
    Value written =
        model.mul(here, model.elementwise<seq::SigmoidOp>(here, share), dt);
    Value xBefore = model.previous(name + "x_before", x);
    Value bBefore = model.previous(name + "b_before", b);
    Value writtenBefore = model.previous(name + "written_before", written);
    Value d = model.vector(name + "d", source + "D", config.heads);
    Value state = model.state(here, {config.heads, config.keys, config.values});
    auto op = seq::TrapezoidalSsdOp::create(
        builder(), model.at(here), x.getType(), state.getType(), x, dt, rate,
        share, b, c, xBefore, bBefore, writtenBefore, d, state,
        /*form=*/nullptr);
    model.setNextState(op.getNextState());
    return model.reshape(here, op.getY(), {config.inner()});
  }

  Value emitGate(Value y, Value gate) {
    std::string here = name + "gated";
    NormConfig norm;
    norm.epsilon = config.epsilon;
    if (config.outputNorm)
      y = model.groupNorm(name + "gated_norm", source + "norm", y, config.heads,
                          config.inner(), norm);
    return model.mul(here, y,
                     model.activate(here, gate, seq::Nonlinearity::Silu));
  }

  const TrapezoidalConfig &config;
  const std::string &name, &source;
  ModelBuilder &model;
};

} // namespace

Value effc::frontend::emitTrapezoidalMixer(ModelBuilder &model,
                                           const TrapezoidalConfig &config,
                                           const std::string &name,
                                           const std::string &source, Value x) {
  return TrapezoidalEmitter(config, name, source, model).emit(x);
}
