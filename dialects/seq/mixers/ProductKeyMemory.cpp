// seq.product_key_memory. Source: Lample et al., arXiv:1907.05242.
#include "dialects/seq/RetrievalChecks.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Retrieval.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult ProductKeyMemoryOp::verify() {
  ShapeFormula shapes(*this);
  shapes.bind("2", 2);
  if (failed(shapes.check("scores", getScores(), {"T", "2", "H", "S"})) ||
      failed(shapes.check("values", getValues(), {"N", "D"})) ||
      failed(shapes.check("y", getY(), {"T", "D"})) ||
      failed(verifyProductKeys(*this, shapes["S"], getTopK())))
    return failure();
  return verifyReachable(*this, "values", shapes["N"], shapes["S"]);
}

SmallVector<StateDescriptor> ProductKeyMemoryOp::getStates() { return {}; }

OperandRole ProductKeyMemoryOp::getOperandRole(unsigned index) {
  return index == getScoresMutable().getOperandNumber()
             ? OperandRole::Token
             : OperandRole::Parameter;
}

StructureAttr ProductKeyMemoryOp::getStructure() {
  auto retrieval = RetrievalAttr::get(
      getContext(), /*axes=*/2, /*heads=*/getScores().getType().getDimSize(2),
      getTopK(), getWeighting(), RetrievalContent::Row, Nonlinearity::Identity,
      /*weight_inside=*/false);
  return StructureAttr::get(getContext(), retrieval);
}

RetrievalOperands ProductKeyMemoryOp::getRetrievalOperands() {
  return {getScores(), /*order=*/{}, /*input=*/{}, /*inner=*/{}, getValues()};
}

template <typename S>
static llvm::Error evaluate(ProductKeyMemoryOp op, Frame<S> &frame) {
  const Tensor<S> &scores = frame[op.getScores()];
  const Tensor<S> &values = frame[op.getValues()];
  Tensor<S> y({scores.getDim(0), values.getDim(1)});
  retrieve<S>(scores, op.getStructure().getRetrieval(),
              [&](int64_t t, int64_t row, S weight) {
                for (int64_t d = 0; d < values.getDim(1); ++d)
                  y(t, d) += weight * values(row, d);
              });
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ProductKeyMemoryOp)
