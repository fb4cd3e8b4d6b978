// Between a mixer and the forms of its recurrence.
//
//   quantities = token map(tokens, parameters)          (the mixer's)
//   gates      = stabilise(log-decay, log-gate, m)      where the record asks
//   values     = [value | weight], state = [S | z]      with a normaliser
//   read, next = form(quantities, state)                (LinearForms.h)
//   y          = read-out(read, denominator, m)         (the mixer's)
//
// The normaliser's sum is a recurrence of the same keys and decays, so it is
// one more value channel (one more for each, where value channels decay).
#include "passes/seq/LinearExpansion.h"

#include "dialects/seq/Seq.h"
#include "passes/seq/LinearForms.h"

using namespace mlir;

namespace effc::seq {

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool hasValueAxis(LinearAttr linear) {
  return linear.getDecay() == DecayAxis::Value ||
         linear.getDecay() == DecayAxis::KeyAndValue;
}

LogicalResult checkLinearForm(MixerOpInterface op, FormAttr form) {
  LinearAttr linear = op.getStructure().getLinear();
  auto unmet = [&](StringRef field, StringRef expected, StringRef found) {
    return op->emitOpError()
           << "has no form '" << stringifyFormKind(form.getKind())
           << "': expects '" << field << "' to be " << expected << ", but got '"
           << found << "'";
  };
  if (linear.getField() != DecayField::Real)
    return unmet("field", "'real'", stringifyDecayField(linear.getField()));
  if (linear.getLowRank() == LowRankPair::None ||
      form.getKind() == FormKind::Step)
    return success();
  if (form.getKind() == FormKind::Scan)
    return unmet("low_rank", "'none'",
                 stringifyLowRankPair(linear.getLowRank()));
  if (hasValueAxis(linear) || linear.getDecay() == DecayAxis::Element)
    return unmet("decay",
                 "'none', 'head_constant', 'head' or 'key' with a "
                 "low-rank pair",
                 stringifyDecayAxis(linear.getDecay()));
  return success();
}

namespace {

/// Rewrites one mixer. Values keep their heads apart, H, until `tokens()`.
class Expansion {
public:
  Expansion(OpBuilder &builder, MixerOpInterface op)
      : builder(builder), op(op), loc(op->getLoc()),
        linear(op.getStructure().getLinear()), states(op.getStates()) {
    canonical =
        op.buildTokenMap(builder, loc, op.getOperandsOf(OperandRole::Token),
                         op.getOperandsOf(OperandRole::Parameter));
    quantities = canonical;
    count = typeOf(quantities.value).getDimSize(0);
    heads = typeOf(quantities.value).getDimSize(1);
    groups = heads / linear.getHeadsPerGroup();
    channels = typeOf(quantities.value).getDimSize(2);
    for (const StateDescriptor &state : states)
      (state.kind == StateKind::Matrix ? matrix
       : state.kind == StateKind::Sum  ? sum
                                       : maximum) = &state;
    quantities.query = perToken(quantities.query, 3);
    quantities.key = perToken(quantities.key, 3);
    spreadDecays();
    if (linear.getStabiliser() == Stabiliser::MaxPlus)
      stabilise();
  }

  void run(FormAttr form) {
    LinearForms forms(builder, loc, {linear.getRead(), linear.getLowRank()});
    LinearTokens input = tokens();
    LinearResult result;
    switch (form.getKind()) {
    case FormKind::Step:
      result = forms.step(input);
      break;
    case FormKind::Quadratic:
      result = forms.quadratic(input);
      break;
    case FormKind::Chunkwise:
      result = forms.chunkwise(input, form.getChunk());
      break;
    case FormKind::Scan:
      result = forms.scan(input);
      break;
    }
    finish(result);
  }

private:
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    if (typeOf(x).getShape() == shape)
      return x;
    return ReshapeOp::create(builder, loc, x, shape);
  }
  Value ones(ArrayRef<int64_t> shape) {
    return ConstantOp::create(builder, loc, 1.0, shape);
  }

  // A quantity that does not vary with the token, repeated for each.
  Value perToken(Value x, int64_t rank) {
    if (!x || typeOf(x).getRank() == rank)
      return x;
    StringRef letters = StringRef("abcd").take_front(rank - 1);
    return ContractOp::create(builder, loc, ones({count}), "t", x, letters,
                              ("t" + letters).str());
  }

  // [.., H, ..] -> [.., G, R, ..].
  Value split(Value x, unsigned headAxis) {
    if (!x)
      return x;
    SmallVector<int64_t> shape(typeOf(x).getShape());
    shape[headAxis] = heads / groups;
    shape.insert(shape.begin() + headAxis, groups);
    return reshape(x, shape);
  }

  void spreadDecays() {
    switch (linear.getDecay()) {
    case DecayAxis::None:
      quantities.logDecay =
          ConstantOp::create(builder, loc, 0.0, {count, heads});
      break;
    case DecayAxis::HeadConstant:
    case DecayAxis::Head:
      decayRank = 2;
      break;
    case DecayAxis::Key:
    case DecayAxis::KeyAndValue:
      decayRank = 3;
      break;
    case DecayAxis::Value:
      break;
    case DecayAxis::Element:
      decayRank = 4;
      break;
    }
    quantities.logDecay = perToken(quantities.logDecay, decayRank);
    quantities.valueLogDecay = perToken(quantities.valueLogDecay, 3);
  }

  // Scales decays and gates to their running maximum, then gates the values.
  void stabilise() {
    Value &decay =
        hasValueAxis(linear) ? quantities.valueLogDecay : quantities.logDecay;
    Value before = op->getOperand(maximum->operand);
    auto stable = StabiliseOp::create(
        builder, loc, decay.getType(), decay.getType(), decay.getType(),
        before.getType(), decay, quantities.logGate, before);
    decay = stable.getScaledDecay();
    maxima = stable.getMaxima();
    nextMaximum = stable.getNextMaximum();
    if (linear.getRead() == ReadOrder::BeforeWrite) {
      SmallVector<int64_t> one(typeOf(before).getShape());
      one.insert(one.begin(), 1);
      SmallVector<Value> earlier = {reshape(before, one)};
      if (count > 1)
        earlier.push_back(
            SliceOp::create(builder, loc, maxima, /*axis=*/0, 0, count - 1));
      maxima = ConcatOp::create(builder, loc, ValueRange(earlier), /*axis=*/0);
    }
    Value gate = ExpOp::create(builder, loc, stable.getScaledGate());
    StringRef letters = hasValueAxis(linear) ? "thv" : "th";
    quantities.value = ContractOp::create(builder, loc, gate, letters,
                                          quantities.value, "thv", "thv");
    quantities.weight =
        quantities.weight
            ? MulOp::create(builder, loc, gate, quantities.weight).getResult()
            : gate;
  }

  LinearTokens tokens() {
    LinearTokens tokens;
    tokens.query = quantities.query;
    tokens.key = quantities.key;
    tokens.value = quantities.value;
    tokens.bonusKey = perToken(quantities.bonusKey, 3);
    tokens.probe = perToken(quantities.probe, 3);
    tokens.valueLogDecay = quantities.valueLogDecay;
    tokens.state = op->getOperand(matrix->operand);
    if (linear.getNormaliser() == Normaliser::KeySum)
      appendSum(tokens);
    tokens.value = split(tokens.value, 1);
    tokens.valueLogDecay = split(tokens.valueLogDecay, 1);
    tokens.state = split(tokens.state, 0);
    Value &decay = decayRank == 2   ? tokens.headLogDecay
                   : decayRank == 3 ? tokens.keyLogDecay
                                    : tokens.elementLogDecay;
    decay = split(quantities.logDecay, 1);
    if (quantities.erase)
      tokens.erase = split(perToken(quantities.erase, 3), 1);
    else if (quantities.eraseScale)
      tokens.erase = ContractOp::create(
          builder, loc, split(perToken(quantities.eraseScale, 2), 1), "tgr",
          quantities.key, "tgk", "tgrk");
    return tokens;
  }

  // The normaliser's sum as more value channels.
  void appendSum(LinearTokens &tokens) {
    int64_t extra = hasValueAxis(linear) ? channels : 1;
    int64_t keys = typeOf(tokens.state).getDimSize(1);
    Value weight = quantities.weight;
    weight = weight ? reshape(weight, {count, heads, extra})
                    : ones({count, heads, extra});
    Value before = reshape(op->getOperand(sum->operand), {heads, keys, extra});
    auto join = [&](Value a, Value b) -> Value {
      return ConcatOp::create(builder, loc, ValueRange{a, b}, /*axis=*/2);
    };
    tokens.value = join(tokens.value, weight);
    tokens.state = join(tokens.state, before);
    if (tokens.valueLogDecay)
      tokens.valueLogDecay = join(tokens.valueLogDecay, tokens.valueLogDecay);
  }

  void replaceState(const StateDescriptor &state, Value next) {
    op->getResult(state.result)
        .replaceAllUsesWith(reshape(next, state.type.getShape()));
  }

  void finish(const LinearResult &result) {
    int64_t all = typeOf(result.read).getDimSize(3);
    int64_t keys = typeOf(result.state).getDimSize(2);
    Value read = reshape(result.read, {count, heads, all});
    Value next = reshape(result.state, {heads, keys, all});
    LinearReading reading{read, {}, maxima};
    if (sum) {
      auto part = [&](Value x, int64_t first, int64_t size) -> Value {
        return SliceOp::create(builder, loc, x, /*axis=*/2, first, size);
      };
      reading.read = part(read, 0, channels);
      reading.denominator = part(read, channels, all - channels);
      if (!hasValueAxis(linear))
        reading.denominator = reshape(reading.denominator, {count, heads});
      replaceState(*sum, part(next, channels, all - channels));
      next = part(next, 0, channels);
    }
    replaceState(*matrix, next);
    if (maximum)
      replaceState(*maximum, nextMaximum);
    op.getTokenResults().front().replaceAllUsesWith(
        op.buildReadOut(builder, loc, reading, canonical));
    op->erase();
  }

  OpBuilder &builder;
  MixerOpInterface op;
  Location loc;
  LinearAttr linear;
  SmallVector<StateDescriptor> states;
  const StateDescriptor *matrix = nullptr, *sum = nullptr, *maximum = nullptr;
  /// As the mixer gives them, and as the form takes them: for each token,
  /// stabilised.
  CanonicalQuantities canonical, quantities;
  int64_t count, heads, groups, channels;
  int64_t decayRank = 2;
  Value maxima, nextMaximum;
};

} // namespace

void expandLinear(MixerOpInterface op, FormAttr form) {
  OpBuilder builder(op);
  Expansion(builder, op).run(form);
}

} // namespace effc::seq
