// Between a mixer and the forms of its recurrence.
//
//   quantities = token map(tokens, parameters)          (the mixer's)
//   gates      = stabilise(log-decay, log-gate, m)      where the record asks
//   values     = [value | weight], state = [S | z]      with a normaliser
//                or a second recurrence, where it has keys of its own
//   read, next = form(quantities, state)                (LinearForms.h)
//   y          = read-out(read, denominator, m)         (the mixer's)
//
// A token that writes n times is n rows, tokens of the form, with its decay at
// the first. Its query stands at each of them; that of the last one counts, or
// of the first one where it reads before the write.
//
// The normaliser's sum is a recurrence of the same keys and decays, so it is
// one more value channel (one more for each, where value channels decay).
#include "passes/seq/LinearExpansion.h"

#include "dialects/seq/Seq.h"
#include "passes/seq/LinearForms.h"

using namespace mlir;

namespace effc::seq {

static bool hasValueAxis(LinearAttr linear) {
  return linear.getDecay() == DecayAxis::Value ||
         linear.getDecay() == DecayAxis::KeyAndValue;
}

// Complex numbers decay per head, key channel or element, and that is all.
static LogicalResult checkComplexForm(
    LinearAttr linear,
    function_ref<LogicalResult(StringRef, StringRef, StringRef)> unmet) {
  DecayAxis axis = linear.getDecay();
  if (axis == DecayAxis::None || axis == DecayAxis::Value ||
      axis == DecayAxis::KeyAndValue)
    return unmet("decay",
                 "'head_constant', 'head', 'key' or 'element' of the field "
                 "'complex'",
                 stringifyDecayAxis(axis));
  if (linear.getLowRank() != LowRankPair::None)
    return unmet("low_rank", "'none' of the field 'complex'",
                 stringifyLowRankPair(linear.getLowRank()));
  if (linear.getBonus())
    return unmet("bonus", "'false' of the field 'complex'", "true");
  if (linear.getNormaliser() != Normaliser::None)
    return unmet("normaliser", "'none' of the field 'complex'",
                 stringifyNormaliser(linear.getNormaliser()));
  if (linear.getStabiliser() != Stabiliser::None)
    return unmet("stabiliser", "'none' of the field 'complex'",
                 stringifyStabiliser(linear.getStabiliser()));
  return success();
}

LogicalResult checkLinearForm(MixerOpInterface op, FormAttr form,
                              function_ref<InFlightDiagnostic()> report) {
  LinearAttr linear = op.getStructure().getLinear();
  auto unmet = [&](StringRef field, StringRef expected,
                   StringRef found) -> LogicalResult {
    return report() << "has no form '" << stringifyFormKind(form.getKind())
                    << "': expects '" << field << "' to be " << expected
                    << ", but got '" << found << "'";
  };
  if (linear.getField() == DecayField::Complex)
    return checkComplexForm(linear, unmet);
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
      (state.kind == StateKind::Matrix ? (matrix ? imaginary : matrix)
       : state.kind == StateKind::Sum  ? sum
                                       : maximum) = &state;
    for (Value *factor : {&quantities.query, &quantities.key,
                          &quantities.queryImaginary, &quantities.keyImaginary})
      *factor = perToken(*factor, 3);
    spreadDecays();
    if (linear.getStabiliser() == Stabiliser::MaxPlus)
      stabilise();
  }

  void run(FormAttr form) {
    LinearTokens input = tokens();
    if (linear.getWrites() > 1)
      return finish(computeRows(form, input), {});
    if (linear.getNormaliser() == Normaliser::None)
      return finish(compute(form, input), {});
    if (!quantities.sumKey) {
      appendSum(input);
      return finish(compute(form, input), {});
    }
    LinearTokens sums = sumTokens(input);
    finish(compute(form, input), compute(form, sums, LowRankPair::None));
  }

private:
  // Several writes: of rows, then of tokens again.
  LinearResult computeRows(FormAttr form, LinearTokens rows) {
    int64_t writes = linear.getWrites();
    auto join = [&](Value &first, auto partOf) {
      if (!first)
        return;
      SmallVector<Value> parts = {first};
      for (const LaterWrite &write : quantities.laterWrites)
        parts.push_back(partOf(write));
      first = interleave(parts);
    };
    join(rows.key, [&](auto &write) { return perToken(write.key, 3); });
    join(rows.value, [&](auto &write) { return split(write.value, 1); });
    join(rows.probe, [&](auto &write) { return perToken(write.probe, 3); });
    join(rows.erase, [&](auto &write) {
      return eraseAlong(perToken(write.key, 3), write.eraseScale);
    });
    join(rows.query, [query = rows.query](auto &) { return query; });
    for (Value *decay : {&rows.headLogDecay, &rows.keyLogDecay,
                         &rows.valueLogDecay, &rows.elementLogDecay})
      join(*decay,
           [&, type = *decay ? typeOf(*decay)
                             : RankedTensorType()](auto &) -> Value {
             return ConstantOp::create(builder, loc, 0.0, type.getShape());
           });
    if (form.getKind() == FormKind::Chunkwise)
      form = FormAttr::get(op->getContext(), form.getKind(),
                           form.getChunk() * writes);
    LinearResult result = compute(form, rows);
    SmallVector<int64_t> shape(typeOf(result.read).getShape());
    shape[0] = writes;
    shape.insert(shape.begin(), count);
    int64_t counting =
        linear.getRead() == ReadOrder::BeforeWrite ? 0 : writes - 1;
    Value read = SliceOp::create(builder, loc, reshape(result.read, shape),
                                 /*axis=*/1, counting, 1);
    shape.erase(shape.begin() + 1);
    result.read = reshape(read, shape);
    return result;
  }

  // Tokens of each part, one behind the other: [T, ...] -> [n T, ...].
  Value interleave(ArrayRef<Value> parts) {
    SmallVector<int64_t> shape(typeOf(parts.front()).getShape());
    shape.insert(shape.begin() + 1, 1);
    SmallVector<Value> rows;
    for (Value part : parts)
      rows.push_back(reshape(part, shape));
    Value joined = ConcatOp::create(builder, loc, ValueRange(rows), /*axis=*/1);
    shape.erase(shape.begin() + 1);
    shape[0] *= int64_t(parts.size());
    return reshape(joined, shape);
  }

  LinearResult compute(FormAttr form, const LinearTokens &input) {
    return compute(form, input, linear.getLowRank());
  }
  LinearResult compute(FormAttr form, const LinearTokens &input,
                       LowRankPair lowRank) {
    LinearForms forms(builder, loc, {linear.getRead(), lowRank});
    switch (form.getKind()) {
    case FormKind::Step:
      return forms.step(input);
    case FormKind::Quadratic:
      return forms.quadratic(input);
    case FormKind::Chunkwise:
      return forms.chunkwise(input, form.getChunk());
    case FormKind::Scan:
      return forms.scan(input);
    }
    llvm_unreachable("a form of no kind");
  }

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
    if (!x || typeOf(x).getRank() >= rank)
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
    for (Value *decay :
         {&quantities.logDecay, &quantities.turn, &quantities.turnImaginary})
      *decay = perToken(*decay, decayRank);
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
    tokens.query = factor(quantities.query);
    tokens.key = factor(quantities.key);
    tokens.queryImaginary = factor(quantities.queryImaginary);
    tokens.keyImaginary = factor(quantities.keyImaginary);
    tokens.bonusKey = perToken(quantities.bonusKey, 3);
    tokens.probe = perToken(quantities.probe, 3);
    tokens.value = split(quantities.value, 1);
    tokens.valueLogDecay = split(quantities.valueLogDecay, 1);
    tokens.state = split(op->getOperand(matrix->operand), 0);
    if (imaginary)
      tokens.stateImaginary = split(op->getOperand(imaginary->operand), 0);
    Value &decay = decayRank == 2   ? tokens.headLogDecay
                   : decayRank == 3 ? tokens.keyLogDecay
                                    : tokens.elementLogDecay;
    decay = split(quantities.logDecay, 1);
    tokens.turn = split(quantities.turn, 1);
    tokens.turnImaginary = split(quantities.turnImaginary, 1);
    if (quantities.erase)
      tokens.erase = split(perToken(quantities.erase, 3), 1);
    else if (quantities.eraseScale)
      tokens.erase = eraseAlong(quantities.key, quantities.eraseScale);
    return tokens;
  }

  // A key times a number per head.
  Value eraseAlong(Value key, Value scale) {
    return ContractOp::create(builder, loc, split(perToken(scale, 2), 1), "tgr",
                              key, "tgk", "tgrk");
  }

  // A query or a key: one per element has a head.
  Value factor(Value x) {
    return x && typeOf(x).getRank() == 4 ? split(x, 1) : x;
  }

  // What the normaliser's sum takes of each key, [T, G, R, E], and the sum
  // before, [G, R, K, E]: E is 1, or V where value channels decay.
  std::pair<Value, Value> sumOperands() {
    int64_t extra = hasValueAxis(linear) ? channels : 1;
    int64_t keys = matrix->type.getDimSize(1);
    Value weight = quantities.weight;
    weight = weight ? reshape(weight, {count, heads, extra})
                    : ones({count, heads, extra});
    Value before = reshape(op->getOperand(sum->operand), {heads, keys, extra});
    return {split(weight, 1), split(before, 0)};
  }

  // The sum as more value channels.
  void appendSum(LinearTokens &tokens) {
    auto [weight, before] = sumOperands();
    auto join = [&](Value a, Value b) -> Value {
      return ConcatOp::create(builder, loc, ValueRange{a, b}, /*axis=*/3);
    };
    tokens.value = join(tokens.value, weight);
    tokens.state = join(tokens.state, before);
    if (tokens.valueLogDecay)
      tokens.valueLogDecay = join(tokens.valueLogDecay, tokens.valueLogDecay);
  }

  // The sum as a recurrence of its own, of other keys and queries and without
  // a correction.
  LinearTokens sumTokens(const LinearTokens &tokens) {
    LinearTokens sums = tokens;
    std::tie(sums.value, sums.state) = sumOperands();
    sums.query = perToken(quantities.sumQuery, 3);
    sums.key = perToken(quantities.sumKey, 3);
    sums.bonusKey = sums.probe = sums.erase = {};
    return sums;
  }

  void replaceState(const StateDescriptor &state, Value next) {
    op->getResult(state.result)
        .replaceAllUsesWith(reshape(next, state.type.getShape()));
  }

  // `sums` holds the normaliser's sum where that is no part of `result`.
  void finish(const LinearResult &result, const LinearResult &sums) {
    LinearReading reading{perHead(result.read), {}, maxima};
    Value next = perState(result.state);
    if (sum) {
      Value denominator = sums.read, nextSum = sums.state;
      if (denominator) {
        denominator = perHead(denominator);
        nextSum = perState(nextSum);
      } else {
        auto part = [&](Value x, int64_t first, int64_t size) -> Value {
          return SliceOp::create(builder, loc, x, /*axis=*/2, first, size);
        };
        int64_t extra = typeOf(next).getDimSize(2) - channels;
        denominator = part(reading.read, channels, extra);
        nextSum = part(next, channels, extra);
        reading.read = part(reading.read, 0, channels);
        next = part(next, 0, channels);
      }
      reading.denominator = hasValueAxis(linear)
                                ? denominator
                                : reshape(denominator, {count, heads});
      replaceState(*sum, nextSum);
    }
    replaceState(*matrix, next);
    if (imaginary)
      replaceState(*imaginary, result.stateImaginary);
    if (maximum)
      replaceState(*maximum, nextMaximum);
    op.getTokenResults().front().replaceAllUsesWith(
        op.buildReadOut(builder, loc, reading, canonical));
    op->erase();
  }

  // [T, G, R, V] -> [T, H, V], [G, R, K, V] -> [H, K, V].
  Value perHead(Value x) {
    return reshape(x, {count, heads, typeOf(x).getDimSize(3)});
  }
  Value perState(Value x) {
    return reshape(x,
                   {heads, typeOf(x).getDimSize(2), typeOf(x).getDimSize(3)});
  }

  OpBuilder &builder;
  MixerOpInterface op;
  Location loc;
  LinearAttr linear;
  SmallVector<StateDescriptor> states;
  const StateDescriptor *matrix = nullptr, *imaginary = nullptr, *sum = nullptr,
                        *maximum = nullptr;
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
