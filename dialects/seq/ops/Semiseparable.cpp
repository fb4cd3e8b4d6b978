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
                                  int64_t heads, int64_t rank, DecayAxis decay,
                                  int64_t band = 0) {
  auto expected =
      SemiseparableType::get(op->getContext(), heads, rank, decay, band);
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

//===- seq.band_matrix ----------------------------------------------------===//

LogicalResult BandMatrixOp::verify() {
  SemiseparableType matrix = getMatrix().getType();
  if (matrix.getBand() == 0)
    return emitOpError() << "expects 'matrix' with a 'band', but got "
                         << matrix;
  return expectMatrix(*this, matrix, matrix.getHeads(), 1, DecayAxis::None,
                      matrix.getBand());
}
EFFC_SEQ_BUILDS_MATRIX(BandMatrixOp)

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
  int64_t band = lhs.getBand() && rhs.getBand()
                     ? std::min(lhs.getBand(), rhs.getBand())
                     : std::max(lhs.getBand(), rhs.getBand());
  return expectMatrix(*this, getMatrix().getType(), lhs.getHeads(),
                      std::max(lhs.getRank(), rhs.getRank()),
                      has(DecayAxis::Head)           ? DecayAxis::Head
                      : has(DecayAxis::HeadConstant) ? DecayAxis::HeadConstant
                                                     : DecayAxis::None,
                      band);
}
EFFC_SEQ_BUILDS_MATRIX(HadamardOp)

//===- seq.apply ----------------------------------------------------------===//

LogicalResult ApplyOp::verify() {
  SemiseparableType matrix = getMatrix().getType();
  if (!Factors::of(getMatrix()))
    return emitOpError(
        "expects a matrix that is built by 'seq.decay_matrix', "
        "'seq.rank_matrix' or up to 256 'seq.hadamard'; this one "
        "would have to be materialised");
  if (matrix.getBand() != 0)
    return emitOpError()
           << "expects a matrix without a band, but got a band of "
           << matrix.getBand() << ", whose product is 'seq.apply_band'";
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

template <typename S>
static llvm::Error expectRowsOf(const Tensor<S> &x, const Factors &factors,
                                const Frame<S> &frame) {
  for (const auto *list : {&factors.logDecays, &factors.rows, &factors.columns})
    for (Value factor : *list)
      if (frame[factor].getShape().size() > 1)
        if (llvm::Error error =
                expectSameRows("x", x, "a factor of the matrix", frame[factor]))
          return error;
  return llvm::Error::success();
}

// By the elements of the matrix, a column at a time from the diagonal down.
template <typename S> static llvm::Error evaluate(ApplyOp op, Frame<S> &frame) {
  Factors factors = *Factors::of(op.getMatrix());
  const Tensor<S> &x = frame[op.getX()];
  if (llvm::Error error = expectRowsOf(x, factors, frame))
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

//===- seq.apply_band -----------------------------------------------------===//

LogicalResult ApplyBandOp::verify() {
  SemiseparableType matrix = getMatrix().getType();
  if (matrix.getBand() == 0)
    return emitOpError() << "expects a matrix with a band, but got " << matrix
                         << ", whose product is 'seq.apply'";
  if (!Factors::of(getMatrix()))
    return emitOpError(
        "expects a matrix that is built by 'seq.band_matrix' and up to 256 "
        "'seq.hadamard'; this one would have to be materialised");
  ShapeFormula shapes(*this);
  shapes.bind("H", matrix.getHeads());
  shapes.bind("N", matrix.getRank());
  shapes.bind("W", matrix.getBand());
  if (failed(shapes.check("x", getX(), {"T", "H", "V"})) ||
      failed(shapes.check("positions", getPositions(), {"T"})) ||
      failed(shapes.check("keys", getKeys(), {"H", "N", "W"})))
    return failure();
  return shapes.check("values", getValues(), {"H", "W", "V"});
}

SmallVector<StateDescriptor> ApplyBandOp::getStates() {
  auto describe = [&](OpOperand &state, Value next) -> StateDescriptor {
    return {state.getOperandNumber(),
            cast<OpResult>(next).getResultNumber(),
            StateKind::Matrix,
            StateGrowth::Fixed,
            cast<RankedTensorType>(state.get().getType()),
            /*neutral=*/0.0,
            /*positionDependent=*/true};
  };
  return {describe(getKeysMutable(), getNextKeys()),
          describe(getValuesMutable(), getNextValues())};
}

OperandRole ApplyBandOp::getOperandRole(unsigned index) {
  return index == 0   ? OperandRole::Parameter
         : index <= 2 ? OperandRole::Token
                      : OperandRole::State;
}

// By the elements of the matrix: what a token before or among these gives to
// each of the W tokens from it on.
template <typename S>
static llvm::Error evaluate(ApplyBandOp op, Frame<S> &frame) {
  Factors factors = *Factors::of(op.getMatrix());
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  if (llvm::Error error = expectRowsOf(x, factors, frame))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "positions", positions))
    return error;
  for (int64_t t = 0; t < positions.size(); ++t)
    if (positions(t) < 0 || (t > 0 && positions(t) != positions(t - 1) + 1))
      return fail(
          "expects 'positions' of at least 0, each one more than the one "
          "before, but got " +
          Twine(positions(t)) + " for token " + Twine(t));
  Tensor<S> keys = frame[op.getKeys()], values = frame[op.getValues()];
  int64_t tokens = x.getDim(0), heads = x.getDim(1), channels = x.getDim(2);
  int64_t rank = keys.getDim(1), band = keys.getDim(2);
  int64_t first = tokens > 0 ? positions(0) : 0;
  Tensor<S> y(x.getShape());
  auto rowOf = [&](int64_t t) { return ((first + t) % band + band) % band; };
  for (int64_t h = 0; h < heads; ++h)
    // Token -1 is the last one before these, which has decayed up to itself.
    for (int64_t j = 1 - band; j < tokens; ++j) {
      int64_t row = rowOf(j);
      std::vector<S> key(rank), value(channels);
      for (int64_t n = 0; n < rank; ++n)
        key[n] = j < 0 ? frame[op.getKeys()](h, n, row)
                       : productAt<S>(frame, factors.columns, j, h, n);
      for (int64_t v = 0; v < channels; ++v)
        value[v] = j < 0 ? frame[op.getValues()](h, row, v) : x(j, h, v);
      S decay = 1;
      for (int64_t t = std::max<int64_t>(j, 0); t < tokens; ++t) {
        if (t > j)
          decay *= std::exp(logDecayAt<S>(frame, factors.logDecays, t, h));
        if (t - j >= band)
          break;
        S element = 0;
        for (int64_t n = 0; n < rank; ++n)
          element += productAt<S>(frame, factors.rows, t, h, n) * key[n];
        for (int64_t v = 0; v < channels; ++v)
          y(t, h, v) += decay * element * value[v];
      }
      if (tokens - j > band)
        continue; // another token has its row
      for (int64_t n = 0; n < rank; ++n)
        keys(h, n, row) = key[n];
      for (int64_t v = 0; v < channels; ++v)
        values(h, row, v) = decay * value[v];
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextKeys(), std::move(keys));
  frame.set(op.getNextValues(), std::move(values));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ApplyBandOp)
