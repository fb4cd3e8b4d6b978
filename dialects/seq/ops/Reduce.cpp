// seq.reduce: elements along an axis become one.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

static SmallVector<int64_t> without(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> rest(shape);
  rest.erase(rest.begin() + axis);
  return rest;
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ReduceKind kind,
                     Value x, int64_t axis) {
  auto type = cast<RankedTensorType>(x.getType());
  build(builder, state, type.clone(without(type.getShape(), axis)), kind, x,
        axis);
}

LogicalResult ReduceOp::verify() {
  RankedTensorType type = getX().getType();
  int64_t axis = getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOpError() << "expects 'axis' in [0, " << type.getRank()
                         << "), but got " << axis;
  if (type.isDynamicDim(axis))
    return emitOpError() << "expects a static extent on axis " << axis
                         << ", but got " << type;
  SmallVector<int64_t> expected = without(type.getShape(), axis);
  if (getY().getType().getShape() != ArrayRef(expected))
    return emitOpError() << "expects 'y' of shape " << printExtents(expected)
                         << ", but got "
                         << printExtents(getY().getType().getShape());
  return success();
}

template <typename S>
static llvm::Error evaluate(ReduceOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  int64_t axis = op.getAxis(), count = x.getDim(axis);
  Tensor<S> y(without(x.getShape(), axis));
  // Seen as x [outer, count, inner] and y [outer, inner].
  int64_t inner = countElements(x.getShape().drop_front(axis + 1));
  for (int64_t at = 0; at < y.size(); ++at) {
    int64_t first = at / inner * count * inner + at % inner;
    S result = x.elements()[first];
    for (int64_t j = 1; j < count; ++j) {
      S element = x.elements()[first + j * inner];
      if (op.getKind() == ReduceKind::Sum)
        result += element;
      else if (element > result || std::isnan(element))
        result = element;
    }
    y.elements()[at] = result;
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ReduceOp)
