// seq.stabilise: gates referred to their running maximum.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult StabiliseOp::verify() {
  ArrayRef<int64_t> decay = getLogDecay().getType().getShape();
  ArrayRef<int64_t> maximum = getMaximum().getType().getShape();
  if (decay.empty() || decay.drop_front() != maximum)
    return emitOpError() << "expects 'maximum' of the shape of 'log_decay' "
                            "without T, but got "
                         << printExtents(maximum) << " and "
                         << printExtents(decay);
  return success();
}

template <typename S>
static llvm::Error evaluate(StabiliseOp op, Frame<S> &frame) {
  Tensor<S> decay = frame[op.getLogDecay()], gate = frame[op.getLogGate()];
  Tensor<S> maximum = frame[op.getMaximum()];
  if (llvm::Error error = expectSameRows("log_decay", decay, "log_gate", gate))
    return error;
  Tensor<S> maxima(decay.getShape());
  int64_t columns = maximum.size();
  for (int64_t t = 0; t < decay.getDim(0); ++t)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t at = t * columns + column;
      S &d = decay.elements()[at], &i = gate.elements()[at];
      S &m = maximum.elements()[column];
      S carried = d + m;
      m = larger(carried, i);
      d = carried - m;
      i = i - m;
      maxima.elements()[at] = m;
    }
  frame.set(op.getScaledDecay(), std::move(decay));
  frame.set(op.getScaledGate(), std::move(gate));
  frame.set(op.getMaxima(), std::move(maxima));
  frame.set(op.getNextMaximum(), std::move(maximum));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(StabiliseOp)
