// seq.constant: a tensor of one number.
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

void ConstantOp::build(OpBuilder &builder, OperationState &state, double value,
                       ArrayRef<int64_t> shape) {
  build(builder, state, RankedTensorType::get(shape, builder.getF32Type()),
        APFloat(value));
}

LogicalResult ConstantOp::verify() {
  if (getValue().isNaN())
    return emitOpError("expects 'value' to be a number, but got NaN");
  return success();
}

template <typename S>
static llvm::Error evaluate(ConstantOp op, Frame<S> &frame) {
  Tensor<S> y(op.getY().getType().getShape());
  llvm::fill(y.elements(), S(op.getValue().convertToDouble()));
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ConstantOp)
