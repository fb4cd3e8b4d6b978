// seq.structured_recurrence. The heads of a structured recurrent mixer.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

/// What a stored decay is clipped to.
static constexpr double kLeastDecay = 0.9, kMostDecay = 1;

//===- verifier -----------------------------------------------------------===//

LogicalResult StructuredRecurrenceOp::verifyRules() {
  if (!getRoot())
    return success();
  if (!getLogDecay())
    return emitOpError("expects a 'log_decay' beside 'root', but got none");
  if (int64_t(*getRoot()) < 1) {
    InFlightDiagnostic diagnostic = emitOpError()
                                    << "expects 'root' of at least 1, but got "
                                    << int64_t(*getRoot());
    diagnostic.attachNote()
        << "the public model divides the longest context by "
           "512, which rounds to 0 below that";
    return diagnostic;
  }
  return success();
}

//===- what passes know of it ---------------------------------------------===//

StructureAttr StructuredRecurrenceOp::getStructure() {
  LinearStructure structure;
  if (getLogDecay())
    structure.decay = DecayAxis::HeadConstant;
  if (getSource())
    structure.inputGate = InputGate::Value;
  if (getDiagonal())
    structure.read = ReadOrder::BeforeWrite;
  structure.feedThrough = getBias() || getDiagonal();
  return structure.get(getContext());
}

CanonicalQuantities
StructuredRecurrenceOp::buildTokenMap(OpBuilder &builder, Location loc,
                                      ValueRange tokens,
                                      ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value x = tokens[0];
  auto take = [&, next = 1](bool present) mutable {
    return present ? Value(tokens[next++]) : Value();
  };
  Value source = take(bool(getSource())), target = take(bool(getTarget())),
        bias = take(bool(getBias())), diagonal = take(bool(getDiagonal()));
  CanonicalQuantities quantities;
  Value one = ConstantOp::create(builder, loc, 1.0,
                                 {getX().getType().getDimSize(1), 1});
  quantities.query = quantities.key = one;
  quantities.value = source ? m.product(source, "th", x, "thv", "thv") : x;
  if (getLogDecay()) {
    Value decay = parameters[0];
    if (getRoot()) {
      decay = m.create<ClampOp>(decay.getType(), decay,
                                builder.getF64FloatAttr(kLeastDecay),
                                builder.getF64FloatAttr(kMostDecay));
      decay = m.scaled(m.create<LogOp>(decay), 1.0 / int64_t(*getRoot()));
    }
    quantities.logDecay = decay;
    // What is read before a token is written has not decayed yet.
    if (diagonal)
      quantities.query = m.product(m.exp(decay), "h", one, "hk", "hk");
  }
  Value added;
  if (diagonal)
    added = m.product(diagonal, "th", x, "thv", "thv");
  if (bias) {
    Value wide = m.create<BroadcastOp>(bias, x, ArrayRef<int64_t>{0, 1});
    added = added ? m.add(added, wide) : wide;
  }
  quantities.forReadOut = {target, added};
  return quantities;
}

Value StructuredRecurrenceOp::buildReadOut(
    OpBuilder &builder, Location loc, const LinearReading &reading,
    const CanonicalQuantities &quantities) {
  MapBuilder m(builder, loc);
  Value target = quantities.forReadOut[0], added = quantities.forReadOut[1];
  Value y = target ? m.product(target, "th", reading.read, "thv", "thv")
                   : reading.read;
  return added ? m.add(y, added) : y;
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(StructuredRecurrenceOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  auto weight = [&](Value value) { return value ? &frame[value] : nullptr; };
  const Tensor<S> *source = weight(op.getSource()),
                  *target = weight(op.getTarget()),
                  *bias = weight(op.getBias()),
                  *diagonal = weight(op.getDiagonal()),
                  *logDecay = weight(op.getLogDecay());
  for (auto [name, tensor] : {std::pair("source", source),
                              {"target", target},
                              {"bias", bias},
                              {"diagonal", diagonal}})
    if (tensor)
      if (llvm::Error error = expectSameRows("x", x, name, *tensor))
        return error;
  auto decayOf = [&](int64_t h) -> S {
    if (!logDecay)
      return 1;
    if (!op.getRoot())
      return std::exp((*logDecay)(h));
    S clipped = clamp((*logDecay)(h), kLeastDecay, kMostDecay);
    return std::pow(clipped, S(1) / S(int64_t(*op.getRoot())));
  };
  Tensor<S> y(x.getShape());
  Tensor<S> state = frame[op.getState()];
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t h = 0; h < x.getDim(1); ++h)
      for (int64_t i = 0; i < x.getDim(2); ++i) {
        S past = decayOf(h) * state(h, 0, i);
        state(h, 0, i) = past + (source ? (*source)(t, h) : S(1)) * x(t, h, i);
        S weighted = target ? (*target)(t, h) : S(1);
        y(t, h, i) = diagonal ? weighted * past + (*diagonal)(t, h) * x(t, h, i)
                              : weighted * state(h, 0, i);
        if (bias)
          y(t, h, i) += (*bias)(t, h);
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(StructuredRecurrenceOp)
