// seq.segment_sum: sums between any two tokens of a block.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <limits>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// The shape ...,T,T of the sums of a T,... .
static SmallVector<int64_t> squareShape(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape().drop_front());
  shape.append(2, type.getDimSize(0));
  return shape;
}

void SegmentSumOp::build(OpBuilder &builder, OperationState &state, Value x,
                         bool strict, bool exclusive) {
  auto type = cast<RankedTensorType>(x.getType());
  build(builder, state, type.clone(squareShape(type)), x, strict, exclusive);
}

LogicalResult SegmentSumOp::verify() {
  RankedTensorType type = getX().getType();
  if (type.getRank() == 0 || type.isDynamicDim(0))
    return emitOpError() << "expects 'x' of shape T,... with a static T, but "
                            "got "
                         << type;
  SmallVector<int64_t> expected = squareShape(type);
  if (getY().getType().getShape() != ArrayRef(expected))
    return emitOpError() << "expects 'y' of shape ...,T,T = "
                         << printExtents(expected) << ", but got "
                         << printExtents(getY().getType().getShape());
  if (getStrict() && getExclusive())
    return emitOpError("expects 'strict' or 'exclusive', but got both");
  return success();
}

template <typename S>
static llvm::Error evaluate(SegmentSumOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  int64_t tokens = x.getDim(0);
  int64_t columns = x.size() / tokens; // everything but T
  // Seen as x [T, columns] and y [columns, T, T].
  std::vector<S> y(columns * tokens * tokens,
                   -std::numeric_limits<S>::infinity());
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t j = 0; j < tokens; ++j) {
      // The sum of the tokens after j, up to token `last`.
      S sum = 0;
      int64_t last = j;
      for (int64_t i = op.getStrict() || op.getExclusive() ? j + 1 : j;
           i < tokens; ++i) {
        for (int64_t end = op.getExclusive() ? i - 1 : i; last < end;)
          sum += x.elements()[++last * columns + column];
        y[(column * tokens + i) * tokens + j] = sum;
      }
    }
  frame.set(op.getY(), Tensor<S>(op.getY().getType().getShape(), std::move(y)));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(SegmentSumOp)
