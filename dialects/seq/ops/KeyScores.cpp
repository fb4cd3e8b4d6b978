// seq.key_scores: half queries times half keys.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

KeyScoresOp::Part KeyScoresOp::getPart(int64_t half, int64_t head) {
  int64_t channels = getChannels(), keys = getKeysPerHalf();
  if (getLayout() == KeyLayout::HeadHalf)
    return {(head * 2 + half) * channels, (head * 2 + half) * keys, 0};
  return {(half * getHeads() + head) * channels, head * keys, half * channels};
}

LogicalResult KeyScoresOp::verify() {
  ShapeFormula shapes(*this);
  shapes.bind("2", 2);
  if (failed(shapes.check("scores", getScores(), {"T", "2", "H", "S"})) ||
      failed(shapes.check("query", getQuery(), {"T", "Q"})))
    return failure();
  int64_t heads = shapes["H"], keys = shapes["S"], width = shapes["Q"];
  if (width % (2 * heads) != 0)
    return emitOpError() << "expects 2 H = " << 2 * heads
                         << " to divide the Q of 'query', but got " << width;
  int64_t channels = width / (2 * heads);
  bool apart = getLayout() == KeyLayout::HeadHalf;
  SmallVector<int64_t> expected = {apart ? 2 * heads * keys : heads * keys,
                                   apart ? channels : 2 * channels};
  ArrayRef<int64_t> found = getKeys().getType().getShape();
  if (found == ArrayRef(expected))
    return success();
  InFlightDiagnostic diagnostic = emitOpError()
                                  << "expects 'keys' of shape "
                                  << (apart ? "2 H S,K = " : "H S,2 K = ")
                                  << printExtents(expected) << ", but got "
                                  << printExtents(found);
  SmallVector<int64_t> other = {apart ? heads * keys : 2 * heads * keys,
                                apart ? 2 * channels : channels};
  if (found == ArrayRef(other))
    diagnostic.attachNote()
        << "the shape is that of the other layout, '"
        << stringifyKeyLayout(apart ? KeyLayout::HalfHead : KeyLayout::HeadHalf)
        << "'";
  return diagnostic;
}

template <typename S>
static llvm::Error evaluate(KeyScoresOp op, Frame<S> &frame) {
  const Tensor<S> &query = frame[op.getQuery()], &keys = frame[op.getKeys()];
  int64_t heads = op.getHeads(), count = op.getKeysPerHalf();
  Tensor<S> scores({query.getDim(0), 2, heads, count});
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t h = 0; h < heads; ++h) {
      KeyScoresOp::Part part = op.getPart(half, h);
      for (int64_t t = 0; t < query.getDim(0); ++t)
        for (int64_t n = 0; n < count; ++n)
          for (int64_t c = 0; c < op.getChannels(); ++c)
            scores(t, half, h, n) += query(t, part.queryChannel + c) *
                                     keys(part.keyRow + n, part.keyChannel + c);
    }
  frame.set(op.getScores(), std::move(scores));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(KeyScoresOp)
