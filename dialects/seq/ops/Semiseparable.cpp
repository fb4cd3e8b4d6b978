// Semiseparable matrices as values: what they are made of, and their product
// with tokens.
#include "dialects/seq/Factors.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// An op that builds a matrix has nothing to compute.
#define EFFC_SEQ_BUILDS_MATRIX(OP)                                             \
  llvm::Error OP::evaluateInDouble(Frame<double> &) {                          \
    return llvm::Error::success();                                             \
  }                                                                            \
  llvm::Error OP::evaluateInFloat(Frame<float> &) {                            \
    return llvm::Error::success();                                             \
  }

static LogicalResult expectMatrix(Operation *op, SemiseparableType found,
                                  int64_t heads, int64_t rank,
                                  DecayAxis decay) {
  auto expected = SemiseparableType::get(op->getContext(), heads, rank, decay);
  if (found == expected)
    return success();
  return op->emitOpError() << "expects 'matrix' of type " << expected
                           << ", but got " << found;
}

//===- seq.decay_matrix ---------------------------------------------------===//

LogicalResult DecayMatrixOp::verify() {
  ArrayRef<int64_t> shape = getLogDecay().getType().getShape();
  if (shape.empty() || shape.size() > 2)
    return emitOpError() << "expects 'log_decay' of shape T,H or H, but got "
                         << printExtents(shape);
  return expectMatrix(*this, getMatrix().getType(), shape.back(), 1,
                      shape.size() == 1 ? DecayAxis::HeadConstant
                                        : DecayAxis::Head);
}
EFFC_SEQ_BUILDS_MATRIX(DecayMatrixOp)

//===- seq.rank_matrix ----------------------------------------------------===//

LogicalResult RankMatrixOp::verify() {
  if (!getC() && !getB())
    return emitOpError("expects 'rows', 'columns' or both, but got neither");
  ShapeFormula shapes(*this);
  if (!getC() || !getB())
    shapes.bind("N", 1);
  if ((getC() && failed(shapes.check("rows", getC(), {"T", "H", "N"}))) ||
      (getB() && failed(shapes.check("columns", getB(), {"T", "H", "N"}))))
    return failure();
  return expectMatrix(*this, getMatrix().getType(), shapes["H"], shapes["N"],
                      DecayAxis::None);
}
EFFC_SEQ_BUILDS_MATRIX(RankMatrixOp)

//===- seq.hadamard -------------------------------------------------------===//

LogicalResult HadamardOp::verify() {
  SemiseparableType lhs = getLhs().getType(), rhs = getRhs().getType();
  if (lhs.getHeads() != rhs.getHeads())
    return emitOpError() << "expects matrices of as many heads, but got "
                         << lhs.getHeads() << " and " << rhs.getHeads();
  if (lhs.getRank() > 1 && rhs.getRank() > 1)
    return emitOpError() << "expects one of two matrices to be of rank 1, but "
                            "got ranks "
                         << lhs.getRank() << " and " << rhs.getRank()
                         << ": their product would have to be materialised";
  auto has = [&](DecayAxis axis) {
    return lhs.getDecay() == axis || rhs.getDecay() == axis;
  };
  return expectMatrix(*this, getMatrix().getType(), lhs.getHeads(),
                      std::max(lhs.getRank(), rhs.getRank()),
                      has(DecayAxis::Head)           ? DecayAxis::Head
                      : has(DecayAxis::HeadConstant) ? DecayAxis::HeadConstant
                                                     : DecayAxis::None);
}
EFFC_SEQ_BUILDS_MATRIX(HadamardOp)

//===- seq.apply ----------------------------------------------------------===//

LogicalResult ApplyOp::verify() {
  SemiseparableType matrix = getMatrix().getType();
  if (!Factors::of(getMatrix()))
    return emitOpError("expects a matrix that is built by 'seq.decay_matrix', "
                       "'seq.rank_matrix' or 'seq.hadamard'; this one would "
                       "have to be materialised");
  ShapeFormula shapes(*this);
  shapes.bind("H", matrix.getHeads());
  shapes.bind("N", matrix.getRank());
  if (failed(shapes.check("x", getX(), {"T", "H", "V"})) ||
      failed(shapes.check("state", getState(), {"H", "N", "V"})))
    return failure();
  return success();
}

SmallVector<StateDescriptor> ApplyOp::getStates() {
  return {{/*operand=*/2, /*result=*/1, StateKind::Matrix, StateGrowth::Fixed,
           getState().getType(), /*neutral=*/0.0,
           /*positionDependent=*/false}};
}

OperandRole ApplyOp::getOperandRole(unsigned index) {
  return index == 0   ? OperandRole::Parameter
         : index == 1 ? OperandRole::Token
                      : OperandRole::State;
}

// The product of the factors' elements at [t, h, n], of which those of rank 1
// repeat; 1 without any.
template <typename S>
static S productAt(const Frame<S> &frame, ArrayRef<Value> factors, int64_t t,
                   int64_t h, int64_t n) {
  S product = 1;
  for (Value factor : factors) {
    const Tensor<S> &x = frame[factor];
    product *= x(t, h, x.getDim(2) == 1 ? 0 : n);
  }
  return product;
}

template <typename S>
static S logDecayAt(const Frame<S> &frame, ArrayRef<Value> factors, int64_t t,
                    int64_t h) {
  S sum = 0;
  for (Value factor : factors) {
    const Tensor<S> &g = frame[factor];
    sum += g.getShape().size() == 1 ? g(h) : g(t, h);
  }
  return sum;
}

// By the elements of the matrix, a column at a time from the diagonal down.
template <typename S> static llvm::Error evaluate(ApplyOp op, Frame<S> &frame) {
  Factors factors = *Factors::of(op.getMatrix());
  const Tensor<S> &x = frame[op.getX()];
  for (const auto *list : {&factors.logDecays, &factors.rows, &factors.columns})
    for (Value factor : *list)
      if (frame[factor].getShape().size() > 1)
        if (llvm::Error error =
                expectSameRows("x", x, "a factor of the matrix", frame[factor]))
          return error;
  const Tensor<S> &state = frame[op.getState()];
  Tensor<S> y(x.getShape()), next(state.getShape());
  int64_t tokens = x.getDim(0), rank = state.getDim(1), values = x.getDim(2);
  // What of `weight` times the row `source`, written at the token `origin`,
  // arrives there and later; -1 is before the first.
  auto spread = [&](int64_t h, int64_t n, int64_t origin, S weight,
                    auto source) {
    for (int64_t t = std::max<int64_t>(origin, 0); t < tokens; ++t) {
      if (t > origin)
        weight *= std::exp(logDecayAt<S>(frame, factors.logDecays, t, h));
      S read = weight * productAt<S>(frame, factors.rows, t, h, n);
      for (int64_t v = 0; v < values; ++v)
        y(t, h, v) += read * source(v);
    }
    for (int64_t v = 0; v < values; ++v)
      next(h, n, v) += weight * source(v);
  };
  for (int64_t h = 0; h < x.getDim(1); ++h)
    for (int64_t n = 0; n < rank; ++n) {
      spread(h, n, -1, S(1), [&](int64_t v) { return state(h, n, v); });
      for (int64_t j = 0; j < tokens; ++j)
        spread(h, n, j, productAt<S>(frame, factors.columns, j, h, n),
               [&](int64_t v) { return x(j, h, v); });
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(next));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ApplyOp)
