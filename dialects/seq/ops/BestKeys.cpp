// Keys chosen by a number of their own.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <limits>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult CountBetterOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("numbers", getNumbers(), {"S", "N"})) ||
      failed(shapes.check("keys", getKeys(), {"S"})) ||
      failed(shapes.check("others", getOthers(), {"U", "N"})) ||
      failed(shapes.check("at", getAt(), {"U"})) ||
      failed(shapes.check("queries", getQueries(), {"T"})) ||
      failed(shapes.check("y", getY(), {"N", "T", "S"})))
    return failure();
  if (getWindow() && int64_t(*getWindow()) < 1)
    return emitOpError() << "expects 'window' of at least 1, but got "
                         << int64_t(*getWindow());
  if (getPassed() && !getWindow())
    return emitOpError() << "expects a 'window' that has 'passed' the others";
  return success();
}

template <typename S>
static llvm::Error evaluate(CountBetterOp op, Frame<S> &frame) {
  const Tensor<S> &numbers = frame[op.getNumbers()];
  const Tensor<S> &others = frame[op.getOthers()];
  const Tensor<int32_t> &keys = frame.getIndices(op.getKeys());
  const Tensor<int32_t> &at = frame.getIndices(op.getAt());
  const Tensor<int32_t> &queries = frame.getIndices(op.getQueries());
  int64_t window = op.getWindow().value_or(std::numeric_limits<int64_t>::max());
  int64_t heads = numbers.getDim(1);
  Tensor<S> y({heads, queries.size(), keys.size()});
  for (int64_t n = 0; n < heads; ++n)
    for (int64_t t = 0; t < queries.size(); ++t)
      for (int64_t s = 0; s < keys.size(); ++s)
        for (int64_t u = 0; u < at.size(); ++u) {
          bool inSight =
              at(u) >= 0 && at(u) <= queries(t) &&
              (int64_t(queries(t)) - at(u) < window) != op.getPassed();
          bool before = others(u, n) > numbers(s, n) ||
                        (others(u, n) == numbers(s, n) && at(u) < keys(s));
          if (inSight && before)
            y(n, t, s) += S(1);
        }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(CountBetterOp)

LogicalResult KeepBestOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("scores", getScores(), {"H", "T", "S"})) ||
      failed(shapes.check("ranks", getRanks(), {"N", "T", "S"})))
    return failure();
  if (shapes["H"] % shapes["N"] != 0)
    return emitOpError() << "expects N to divide H = " << shapes["H"]
                         << ", but got " << shapes["N"];
  if (int64_t(getKeep()) < 1)
    return emitOpError() << "expects 'keep' of at least 1, but got "
                         << int64_t(getKeep());
  return success();
}

template <typename S>
static llvm::Error evaluate(KeepBestOp op, Frame<S> &frame) {
  Tensor<S> y = frame[op.getScores()];
  const Tensor<S> &ranks = frame[op.getRanks()];
  int64_t shared = y.getDim(0) / ranks.getDim(0);
  for (int64_t h = 0; h < y.getDim(0); ++h)
    for (int64_t t = 0; t < y.getDim(1); ++t)
      for (int64_t s = 0; s < y.getDim(2); ++s)
        if (!(ranks(h / shared, t, s) < S(op.getKeep())))
          y(h, t, s) = -std::numeric_limits<S>::infinity();
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(KeepBestOp)
