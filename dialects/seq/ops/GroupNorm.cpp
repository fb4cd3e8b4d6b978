// seq.group_norm.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult GroupNormOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"T", "D"})))
    return failure();
  int64_t channels = shapes["D"], groups = getGroups();
  if (groups < 1 || channels % groups != 0) {
    InFlightDiagnostic error = emitOpError()
                               << "expects 'groups' of at least 1 that divides "
                                  "D = "
                               << channels << ", but got " << groups;
    error.attachNote() << "'groups' is how many there are, not the channels of "
                          "each: as many as heads where each head has its own";
    return error;
  }
  for (auto [name, value] :
       {std::pair("weight", getWeight()), std::pair("bias", getBias())}) {
    if (!value)
      continue;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(value.getType()).getShape();
    if (shape.size() != 1 ||
        (shape[0] != channels && shape[0] != channels / groups))
      return emitOpError() << "expects '" << name
                           << "' of shape D = " << channels
                           << " or C = " << channels / groups << ", but got "
                           << printExtents(shape);
  }
  if (!getEps().isFinite() || getEps().isNegative())
    return emitOpError() << "expects 'eps' finite and at least 0, but got "
                         << getEpsAttr();
  if (getUnitOffset() && !getWeight())
    return emitOpError() << "expects 'unit_offset' with a 'weight', but got "
                            "none";
  return success();
}

template <typename S>
static S sizeOf(NormMeasure measure, S squares, int64_t count, S eps) {
  switch (measure) {
  case NormMeasure::MeanSquare:
    return std::sqrt(squares / S(count) + eps);
  case NormMeasure::SumSquare:
    return std::sqrt(squares + eps);
  case NormMeasure::MaxLength: {
    S length = std::sqrt(squares);
    return length < eps ? eps : length; // NaN stays
  }
  }
  llvm_unreachable("a measure of no kind");
}

template <typename S>
static llvm::Error evaluate(GroupNormOp op, Frame<S> &frame) {
  Tensor<S> y = frame[op.getX()];
  const Tensor<S> *weight = op.getWeight() ? &frame[op.getWeight()] : nullptr;
  const Tensor<S> *bias = op.getBias() ? &frame[op.getBias()] : nullptr;
  int64_t count = y.getDim(1) / op.getGroups();
  S eps = op.getEps().convertToDouble();
  for (int64_t t = 0; t < y.getDim(0); ++t)
    for (int64_t first = 0; first < y.getDim(1); first += count) {
      S mean = 0, squares = 0;
      if (op.getCentred())
        for (int64_t c = 0; c < count; ++c)
          mean += y(t, first + c) / S(count);
      for (int64_t c = 0; c < count; ++c) {
        S &u = y(t, first + c);
        u -= mean;
        squares += u * u;
      }
      S size = sizeOf(op.getMeasure(), squares, count, eps);
      for (int64_t c = 0; c < count; ++c) {
        int64_t d = first + c;
        S w = weight ? (*weight)(d % weight->size()) : S(1);
        if (op.getUnitOffset())
          w += S(1);
        y(t, d) = y(t, d) / size * w;
        if (bias)
          y(t, d) += (*bias)(d % bias->size());
      }
    }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(GroupNormOp)
