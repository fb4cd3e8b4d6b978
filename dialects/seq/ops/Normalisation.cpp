// seq.rms_norm and seq.gated_rms_norm.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// What both norms ask of their operands: x is T,D, weight is D, eps is a
// finite number that is not negative.
template <typename NormOp> static LogicalResult verifyNorm(NormOp op) {
  ShapeFormula shapes(op);
  if (failed(shapes.check("x", op.getX(), {"T", "D"})) ||
      failed(shapes.check("weight", op.getWeight(), {"D"})))
    return failure();
  if (!op.getEps().isFinite() || op.getEps().isNegative())
    return op.emitOpError() << "expects 'eps' finite and at least 0, but got "
                            << op.getEpsAttr();
  return success();
}

LogicalResult RmsNormOp::verify() { return verifyNorm(*this); }

LogicalResult GatedRmsNormOp::verify() {
  if (failed(verifyNorm(*this)))
    return failure();
  int64_t channels = getX().getType().getDimSize(1);
  int64_t groups = getGroups();
  if (groups < 1 || channels % groups != 0) {
    InFlightDiagnostic error = emitOpError()
                               << "expects 'groups' of at least 1 that divides "
                                  "D = "
                               << channels << ", but got " << groups;
    error.attachNote() << "'groups' is how many there are, not the channels of "
                          "each: as many as heads where each head has its own";
    return error;
  }
  return success();
}

// Normalises each group of each row of `x` by its root mean square, then
// scales.
template <typename S>
static Tensor<S> normalise(Tensor<S> x, const Tensor<S> &weight, double eps,
                           int64_t groups) {
  int64_t size = x.getDim(1) / groups;
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t group = 0; group < groups; ++group) {
      S squares = 0;
      for (int64_t d = group * size; d < (group + 1) * size; ++d)
        squares += x(t, d) * x(t, d);
      S root = std::sqrt(squares / S(size) + S(eps));
      for (int64_t d = group * size; d < (group + 1) * size; ++d)
        x(t, d) = x(t, d) / root * weight(d);
    }
  return x;
}

template <typename S>
static llvm::Error evaluate(RmsNormOp op, Frame<S> &frame) {
  frame.set(op.getY(), normalise(frame[op.getX()], frame[op.getWeight()],
                                 op.getEps().convertToDouble(), /*groups=*/1));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RmsNormOp)

template <typename S>
static llvm::Error evaluate(GatedRmsNormOp op, Frame<S> &frame) {
  Tensor<S> gated = frame[op.getX()];
  const Tensor<S> &gate = frame[op.getGate()];
  if (llvm::Error error = expectSameRows("x", gated, "gate", gate))
    return error;
  for (auto [x, z] : llvm::zip_equal(gated.elements(), gate.elements()))
    x *= silu(z);
  frame.set(op.getY(),
            normalise(std::move(gated), frame[op.getWeight()],
                      op.getEps().convertToDouble(), op.getGroups()));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(GatedRmsNormOp)
