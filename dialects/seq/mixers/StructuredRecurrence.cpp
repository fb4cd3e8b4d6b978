// seq.structured_recurrence. The heads of a structured recurrent mixer.
// position.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- verifier -----------------------------------------------------------===//

LogicalResult StructuredRecurrenceOp::verify() {
  ShapeFormula shapes(*this);
  shapes.bind("1", 1);
  if (failed(shapes.check("x", getX(), {"T", "H", "V"})) ||
      failed(shapes.check("source", getSource(), {"T", "H"})) ||
      failed(shapes.check("target", getTarget(), {"T", "H"})) ||
      failed(shapes.check("bias", getBias(), {"T", "H"})) ||
      failed(shapes.check("log_decay", getLogDecay(), {"H"})) ||
      failed(shapes.check("state", getState(), {"H", "1", "V"})) ||
      failed(shapes.check("y", getY(), {"T", "H", "V"})))
    return failure();
  return success();
}

//===- what passes know of it ---------------------------------------------===//

SmallVector<StateDescriptor> StructuredRecurrenceOp::getStates() {
  return describeStates(*this, {StateKind::Matrix});
}

StructureAttr StructuredRecurrenceOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::HeadConstant;
  structure.inputGate = InputGate::Value;
  structure.feedThrough = true;
  return structure.get(getContext());
}

CanonicalQuantities
StructuredRecurrenceOp::buildTokenMap(OpBuilder &builder, Location loc,
                                      ValueRange tokens,
                                      ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = quantities.key = ConstantOp::create(
      builder, loc, 1.0, {getX().getType().getDimSize(1), 1});
  quantities.value = m.product(tokens[1], "th", tokens[0], "thv", "thv");
  quantities.logDecay = parameters[0];
  Value bias =
      m.create<BroadcastOp>(tokens[3], tokens[0], ArrayRef<int64_t>{0, 1});
  quantities.forReadOut = {tokens[2], bias};
  return quantities;
}

Value StructuredRecurrenceOp::buildReadOut(
    OpBuilder &builder, Location loc, const LinearReading &reading,
    const CanonicalQuantities &quantities) {
  MapBuilder m(builder, loc);
  Value target = quantities.forReadOut[0], bias = quantities.forReadOut[1];
  return m.add(m.product(target, "th", reading.read, "thv", "thv"), bias);
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(StructuredRecurrenceOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()], &source = frame[op.getSource()];
  const Tensor<S> &target = frame[op.getTarget()], &bias = frame[op.getBias()];
  const Tensor<S> &logDecay = frame[op.getLogDecay()];
  if (llvm::Error error = expectSameRows("x", x, "source", source))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "target", target))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "bias", bias))
    return error;
  Tensor<S> y(x.getShape());
  Tensor<S> state = frame[op.getState()];
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t h = 0; h < x.getDim(1); ++h)
      for (int64_t i = 0; i < x.getDim(2); ++i) {
        state(h, 0, i) =
            std::exp(logDecay(h)) * state(h, 0, i) + source(t, h) * x(t, h, i);
        y(t, h, i) = target(t, h) * state(h, 0, i) + bias(t, h);
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(StructuredRecurrenceOp)
