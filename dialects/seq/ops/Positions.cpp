// Rings of rows by position, and what positions and numbers of keys say of
// scores.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <limits>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- rings --------------------------------------------------------------===//

LogicalResult RingPositionsOp::verify() {
  if (getY().getType().isDynamicDim(0))
    return emitOpError() << "expects 'y' with a static W, but got "
                         << getY().getType();
  return success();
}

template <typename S>
static llvm::Error evaluate(RingPositionsOp op, Frame<S> &frame) {
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  if (positions.size() == 0)
    return fail("expects at least 1 position, but got 0");
  int64_t rows = op.getY().getType().getDimSize(0);
  int64_t last = op.getBefore() ? int64_t(positions(0)) - 1
                                : positions(positions.size() - 1);
  Tensor<int32_t> y({rows});
  for (int64_t i = 0; i < rows; ++i)
    y(i) = !op.getFirst() ? last - ((last - i) % rows + rows) % rows
           : i <= last    ? i
                          : -1;
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RingPositionsOp)

LogicalResult RingWriteOp::verify() {
  ArrayRef<int64_t> ring = getRing().getType().getShape();
  if (ring.empty())
    return emitOpError() << "expects 'ring' of shape W,..., but got a scalar";
  SmallVector<int64_t> expected(ring);
  expected.front() = getPositions().getType().getDimSize(0);
  if (getX().getType().getShape() != ArrayRef(expected))
    return emitOpError() << "expects 'x' of shape T,... = "
                         << printExtents(expected) << ", but got "
                         << printExtents(getX().getType().getShape());
  return success();
}

template <typename S>
static llvm::Error evaluate(RingWriteOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  if (llvm::Error error = expectSameRows("x", x, "positions", positions))
    return error;
  Tensor<S> ring = frame[op.getRing()];
  int64_t rows = ring.getDim(0), size = ring.size() / rows;
  for (int64_t t = 0; t < positions.size(); ++t) {
    if (positions(t) < 0)
      return fail("expects 'positions' of at least 0, but got " +
                  Twine(positions(t)));
    if (op.getFirst() && positions(t) >= rows)
      continue;
    llvm::copy(x.elements().slice(t * size, size),
               ring.elements().begin() + positions(t) % rows * size);
  }
  frame.set(op.getNext(), std::move(ring));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RingWriteOp)

LogicalResult RingRowOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("positions", getPositions(), {"T"})))
    return failure();
  return shapes.check("y", getY(), {"T", "W"});
}

template <typename S>
static llvm::Error evaluate(RingRowOp op, Frame<S> &frame) {
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  int64_t rows = op.getY().getType().getDimSize(1);
  Tensor<S> y({positions.size(), rows});
  for (int64_t t = 0; t < positions.size(); ++t) {
    if (positions(t) < 0)
      return fail("expects 'positions' of at least 0, but got " +
                  Twine(positions(t)));
    y(t, positions(t) % rows) = 1;
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RingRowOp)

//===- scores -------------------------------------------------------------===//

LogicalResult WindowMaskOp::verify() {
  ArrayRef<int64_t> shape = getScores().getType().getShape();
  int64_t expected[] = {getQueries().getType().getDimSize(0),
                        getKeys().getType().getDimSize(0)};
  if (shape.size() < 2 || shape.take_back(2) != ArrayRef(expected))
    return emitOpError() << "expects 'scores' of shape ...,T,S with T,S = "
                         << printExtents(expected) << ", but got "
                         << printExtents(shape);
  if (getWindow() && int64_t(*getWindow()) < 1)
    return emitOpError() << "expects 'window' of at least 1, but got "
                         << int64_t(*getWindow());
  if (getPassed() && !getWindow())
    return emitOpError() << "expects a 'window' that has 'passed' the keys";
  return success();
}

template <typename S>
static llvm::Error evaluate(WindowMaskOp op, Frame<S> &frame) {
  Tensor<S> y = frame[op.getScores()];
  const Tensor<int32_t> &queries = frame.getIndices(op.getQueries());
  const Tensor<int32_t> &keys = frame.getIndices(op.getKeys());
  int64_t window = op.getWindow().value_or(std::numeric_limits<int64_t>::max());
  auto element = y.elements().begin();
  for (int64_t plane = y.size() / (queries.size() * keys.size()); plane > 0;
       --plane)
    for (int32_t query : queries.elements())
      for (int32_t key : keys.elements()) {
        bool inSight = key >= 0 && key <= query &&
                       (int64_t(query) - key < window) != op.getPassed();
        if (!inSight)
          *element = -std::numeric_limits<S>::infinity();
        ++element;
      }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(WindowMaskOp)

LogicalResult DistancesOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("queries", getQueries(), {"T"})) ||
      failed(shapes.check("keys", getKeys(), {"S"})))
    return failure();
  if (getLast() && int64_t(*getLast()) < 0)
    return emitOpError() << "expects 'last' of at least 0, but got "
                         << int64_t(*getLast());
  return shapes.check("y", getY(), {"T", "S"});
}

template <typename S>
static llvm::Error evaluate(DistancesOp op, Frame<S> &frame) {
  const Tensor<int32_t> &queries = frame.getIndices(op.getQueries());
  const Tensor<int32_t> &keys = frame.getIndices(op.getKeys());
  int64_t last = op.getLast().value_or(std::numeric_limits<int64_t>::max());
  Tensor<S> y({queries.size(), keys.size()});
  for (int64_t t = 0; t < queries.size(); ++t)
    for (int64_t s = 0; s < keys.size(); ++s)
      y(t, s) = S(keys(s) - std::min<int64_t>(queries(t), last));
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(DistancesOp)

LogicalResult AtStartOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("positions", getPositions(), {"T"})))
    return failure();
  return shapes.check("y", getY(), {"T"});
}

template <typename S>
static llvm::Error evaluate(AtStartOp op, Frame<S> &frame) {
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  Tensor<S> y({positions.size()});
  for (int64_t t = 0; t < positions.size(); ++t)
    y(t) = positions(t) == 0;
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(AtStartOp)

LogicalResult KeyNumbersOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("scores", getScores(), {"H", "T", "S"})) ||
      failed(shapes.check("numbers", getNumbers(), {"S", "N"})))
    return failure();
  if (shapes["H"] % shapes["N"] != 0)
    return emitOpError() << "expects N to divide H = " << shapes["H"]
                         << ", but got " << shapes["N"];
  if (getKind() == KeyScore::None)
    return emitOpError() << "expects a kind other than 'none'";
  return success();
}

template <typename S>
static llvm::Error evaluate(KeyNumbersOp op, Frame<S> &frame) {
  Tensor<S> y = frame[op.getScores()];
  const Tensor<S> &numbers = frame[op.getNumbers()];
  int64_t shared = y.getDim(0) / numbers.getDim(1);
  for (int64_t h = 0; h < y.getDim(0); ++h)
    for (int64_t t = 0; t < y.getDim(1); ++t)
      for (int64_t s = 0; s < y.getDim(2); ++s) {
        S number = numbers(s, h / shared);
        if (op.getKind() == KeyScore::Bias)
          y(h, t, s) += number;
        else if (op.getKind() == KeyScore::Scale)
          y(h, t, s) *= number;
        else if (number < S(1))
          y(h, t, s) = -std::numeric_limits<S>::infinity();
      }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(KeyNumbersOp)
