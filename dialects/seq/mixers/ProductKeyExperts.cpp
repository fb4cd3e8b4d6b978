// seq.product_key_experts. Source: He, arXiv:2407.04153.
#include "dialects/seq/RetrievalChecks.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Retrieval.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult ProductKeyExpertsOp::verify() {
  ShapeFormula shapes(*this);
  shapes.bind("2", 2);
  if (failed(shapes.check("x", getX(), {"T", "D"})) ||
      failed(shapes.check("scores", getScores(), {"T", "2", "H", "S"})) ||
      failed(shapes.check("down", getDown(), {"N", "D"})) ||
      failed(verifyProductKeys(*this, shapes["S"], getTopK())))
    return failure();
  return verifyReachable(*this, "down", shapes["N"], shapes["S"]);
}

SmallVector<StateDescriptor> ProductKeyExpertsOp::getStates() { return {}; }

OperandRole ProductKeyExpertsOp::getOperandRole(unsigned index) {
  return index <= getScoresMutable().getOperandNumber()
             ? OperandRole::Token
             : OperandRole::Parameter;
}

StructureAttr ProductKeyExpertsOp::getStructure() {
  auto retrieval = RetrievalAttr::get(
      getContext(), /*axes=*/2, /*heads=*/getScores().getType().getDimSize(2),
      getTopK(), getWeighting(), RetrievalContent::Neuron, getNonlinearity(),
      getWeightInside());
  return StructureAttr::get(getContext(), retrieval);
}

RetrievalOperands ProductKeyExpertsOp::getRetrievalOperands() {
  return {getScores(), /*order=*/{}, getX(), getDown(), getUp()};
}

template <typename S>
static llvm::Error evaluate(ProductKeyExpertsOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()], &scores = frame[op.getScores()];
  const Tensor<S> &down = frame[op.getDown()], &up = frame[op.getUp()];
  if (llvm::Error error = expectSameRows("x", x, "scores", scores))
    return error;
  int64_t channels = x.getDim(1);
  Tensor<S> y(x.getShape());
  retrieve<S>(scores, op.getStructure().getRetrieval(),
              [&](int64_t t, int64_t expert, S weight) {
                S sum = 0;
                for (int64_t d = 0; d < channels; ++d)
                  sum += x(t, d) * down(expert, d);
                S hidden = op.getWeightInside()
                               ? apply(op.getNonlinearity(), weight * sum)
                               : weight * apply(op.getNonlinearity(), sum);
                for (int64_t d = 0; d < channels; ++d)
                  y(t, d) += hidden * up(expert, d);
              });
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ProductKeyExpertsOp)
