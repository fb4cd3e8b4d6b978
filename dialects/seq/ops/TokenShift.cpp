// seq.token_shift: the token before each one.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult TokenShiftOp::verify() {
  ShapeFormula shapes(*this);
  bool hasHeads = getX().getType().getRank() == 3;
  if (failed(hasHeads ? shapes.check("x", getX(), {"T", "H", "D"})
                      : shapes.check("x", getX(), {"T", "D"})))
    return failure();
  return hasHeads ? shapes.check("last", getLast(), {"H", "D"})
                  : shapes.check("last", getLast(), {"D"});
}

SmallVector<StateDescriptor> TokenShiftOp::getStates() {
  return {{getLastMutable().getOperandNumber(),
           cast<OpResult>(getNextLast()).getResultNumber(), StateKind::Shift,
           StateGrowth::Fixed, getLast().getType(), /*neutral=*/0.0,
           /*positionDependent=*/false}};
}

OperandRole TokenShiftOp::getOperandRole(unsigned index) {
  return detail::roleOf(index, /*tokens=*/1, /*parameters=*/0);
}

template <typename S>
static llvm::Error evaluate(TokenShiftOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()], &last = frame[op.getLast()];
  std::vector<S> rows = last.elements().vec();
  llvm::append_range(rows, x.elements());
  ArrayRef<S> all = rows;
  Tensor<S> y(x.getShape(), all.take_front(x.size()).vec());
  Tensor<S> next(last.getShape(), all.take_back(last.size()).vec());
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextLast(), std::move(next));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(TokenShiftOp)
