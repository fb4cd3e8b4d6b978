// seq.weight and seq.parameter.
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using effc::seq::reference::Frame;

LogicalResult WeightOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (getComputed() && !getSource().empty())
    return emitOpError() << "expects no 'source' beside 'computed', but got \""
                         << getSource() << "\"";
  if (!getComputed() && getSource().empty())
    return emitOpError()
           << "expects a 'source' that is not empty, but got \"\"";
  int64_t rank = type.getRank();
  if (getComputed()) {
    bool rows = getComputed()->hasRows();
    if (rank != (rows ? 2 : 1) || !type.getElementType().isF32())
      return emitOpError() << "expects a 'computed' weight of f32 and "
                           << (rows ? "2 dimensions, positions first"
                                    : "1 dimension")
                           << ", but got " << type;
    if (failed(getComputed()->verifyCount(type.getShape().back(),
                                          [&] { return emitOpError(); })))
      return failure();
  }
  if (getTransposed() && rank != 2 && rank != 3)
    return emitOpError() << "expects a 'transposed' weight of 2 or 3 "
                            "dimensions, but got "
                         << rank;
  return success();
}

LogicalResult
ParameterOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto weight =
      symbolTable.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight)
    return emitOpError() << "expects 'weight' to name a 'seq.weight', but got "
                         << getWeightAttr();
  if (weight.getType() == getResult().getType())
    return success();
  InFlightDiagnostic diagnostic = emitOpError()
                                  << "expects 'result' of the weight's type "
                                  << weight.getType() << ", but got "
                                  << getResult().getType();
  diagnostic.attachNote(weight.getLoc()) << "the weight is declared here";
  return diagnostic;
}

template <typename S>
static llvm::Error evaluate(ParameterOp op, Frame<S> &frame) {
  auto weight =
      SymbolTable::lookupNearestSymbolFrom<WeightOp>(op, op.getWeightAttr());
  return frame.setWeight(op.getResult(), weight);
}
EFFC_SEQ_REFERENCE(ParameterOp)
