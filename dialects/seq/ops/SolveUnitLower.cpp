// seq.solve_unit_lower: triangular systems by forward substitution.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult SolveUnitLowerOp::verify() {
  ArrayRef<int64_t> l = getL().getType().getShape();
  ArrayRef<int64_t> b = getB().getType().getShape();
  if (l.size() < 2 || l.back() != l[l.size() - 2])
    return emitOpError() << "expects 'l' of shape ...,T,T, but got "
                         << printExtents(l);
  if (b.size() != l.size() || b.drop_back() != l.drop_back())
    return emitOpError() << "expects 'b' of shape "
                         << printExtents(l.drop_back()) << ", N, but got "
                         << printExtents(b);
  return success();
}

template <typename S>
static llvm::Error evaluate(SolveUnitLowerOp op, Frame<S> &frame) {
  const Tensor<S> &l = frame[op.getL()];
  Tensor<S> x = frame[op.getB()];
  int64_t tokens = l.getShape().back(), columns = x.getShape().back();
  int64_t systems = l.size() / (tokens * tokens);
  for (int64_t system = 0; system < systems; ++system) {
    const S *matrix = l.elements().data() + system * tokens * tokens;
    S *rows = x.elements().data() + system * tokens * columns;
    for (int64_t i = 0; i < tokens; ++i)
      for (int64_t j = 0; j < i; ++j)
        for (int64_t column = 0; column < columns; ++column)
          rows[i * columns + column] +=
              matrix[i * tokens + j] * rows[j * columns + column];
  }
  frame.set(op.getX(), std::move(x));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(SolveUnitLowerOp)
