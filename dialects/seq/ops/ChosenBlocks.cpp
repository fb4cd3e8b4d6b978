// Blocks of keys that queries choose, and the scores of what they have chosen.
#include "dialects/seq/BlockLength.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/BlockSums.h"
#include "dialects/seq/reference/Frame.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- choose_blocks ------------------------------------------------------===//

// CHOOSE_BLOCKS4 and CHOOSE_BLOCKS5.
static LogicalResult verifyNumbers(ChooseBlocksOp op, int64_t count) {
  int64_t first = op.getFirst(), last = op.getLast();
  if (failed(verifyBlockLength(op, op.getBlock())))
    return failure();
  if (first < 0 || last < 1 || last > count || first > count - last) {
    InFlightDiagnostic error =
        op.emitOpError() << "expects 'first' of at least 0 and 'last' of at "
                            "least 1, together at most the "
                         << count << " blocks of 'chosen', but got " << first
                         << " and " << last;
    error.attachNote() << "the last block is the token's own";
    return error;
  }
  if (!op.getScale().isFinite())
    return op.emitOpError()
           << "expects a finite 'scale', but got " << op.getScaleAttr();
  return success();
}

LogicalResult ChooseBlocksOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("q", getQ(), {"T", "H", "K"})) ||
      failed(shapes.check("k", getK(), {"T", "G", "K"})) ||
      failed(shapes.check("positions", getPositions(), {"T"})) ||
      failed(shapes.check("sums", getSums(), {"L", "G", "K"})) ||
      failed(shapes.check("chosen", getChosen(), {"T", "M", "U"})))
    return failure();
  int64_t heads = shapes["H"], choosing = shapes["M"], keys = shapes["G"];
  if (heads % choosing != 0 || choosing % keys != 0)
    return emitOpError() << "expects M to divide H = " << heads
                         << " and to be a multiple of G = " << keys
                         << ", but got " << choosing;
  return verifyNumbers(*this, shapes["U"]);
}

SmallVector<StateDescriptor> ChooseBlocksOp::getStates() {
  return {{getSumsMutable().getOperandNumber(),
           cast<OpResult>(getNextSums()).getResultNumber(), StateKind::Sum,
           StateGrowth::Fixed, getSums().getType(), /*neutral=*/0.0,
           /*positionDependent=*/true, /*keepsF32=*/true,
           static_cast<int64_t>(getBlock())}};
}

OperandRole ChooseBlocksOp::getOperandRole(unsigned index) {
  return detail::roleOf(index, /*tokens=*/3, /*parameters=*/0);
}

namespace {
/// What a block is ordered by; a NaN is the largest key.
template <typename S> struct Candidate {
  S key;
  int64_t block;

  bool comesBefore(const Candidate &other) const {
    bool mine = std::isnan(key), others = std::isnan(other.key);
    if (mine != others)
      return mine;
    return mine || key == other.key ? block < other.block : key > other.key;
  }
};
} // namespace

// The scores of head `h` for the blocks before `own`.
template <typename S>
static SmallVector<S> scoresOf(ChooseBlocksOp op, const Tensor<S> &q,
                               const Tensor<S> &sums, int64_t t, int64_t h,
                               int64_t position) {
  int64_t block = op.getBlock();
  bool isShare = op.getScore() == BlockScore::Share;
  int64_t count = (position + (isShare ? 1 : 0)) / block;
  S scale = S(op.getScale().convertToDouble());
  SmallVector<S> scores;
  S largest = -std::numeric_limits<S>::infinity();
  for (int64_t c = 0; c < count; ++c) {
    scores.push_back(meanScore(q, t, h, sums, c, block, scale));
    largest = std::max(largest, scores.back());
  }
  if (!isShare)
    return scores;
  S total = 0;
  for (S &score : scores)
    total += score = std::exp(score - largest);
  for (S &score : scores)
    score /= total;
  return scores;
}

template <typename S>
static llvm::Error evaluate(ChooseBlocksOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()], &k = frame[op.getK()];
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  Tensor<S> sums = frame[op.getSums()];
  int64_t block = op.getBlock();
  if (llvm::Error error = expectSameRows("q", q, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "positions", positions))
    return error;
  if (llvm::Error error = checkBlockPositions(positions, sums.getDim(0), block))
    return error;
  int64_t heads = q.getDim(1);
  int64_t choosing = op.getChosen().getType().getDimSize(1);
  int64_t count = op.getChosen().getType().getDimSize(2);
  int64_t first = op.getFirst(), last = op.getLast();
  Tensor<int32_t> chosen({q.getDim(0), choosing, count});
  for (int64_t t = 0; t < q.getDim(0); ++t) {
    int64_t p = positions(t), own = p / block;
    addToBlock(sums, k, t, p, block);
    for (int64_t m = 0; m < choosing; ++m) {
      SmallVector<S> keys(own + 1 + count, -std::numeric_limits<S>::infinity());
      std::fill_n(keys.begin(), own, S(0));
      for (int64_t i = 0; i < heads / choosing; ++i) {
        SmallVector<S> scores =
            scoresOf(op, q, sums, t, m * (heads / choosing) + i, p);
        for (int64_t c = 0; c < own; ++c)
          keys[c] += scores[c];
      }
      SmallVector<Candidate<S>> candidates;
      for (auto [c, key] : llvm::enumerate(keys)) {
        int64_t number = c;
        bool always = number <= own && (number < first || number > own - last);
        candidates.push_back(
            {always ? std::numeric_limits<S>::infinity() : key, number});
      }
      llvm::sort(candidates, [](const Candidate<S> &a, const Candidate<S> &b) {
        return a.comesBefore(b);
      });
      for (int64_t u = 0; u < count; ++u)
        chosen(t, m, u) = static_cast<int32_t>(candidates[u].block);
    }
  }
  frame.set(op.getChosen(), std::move(chosen));
  frame.set(op.getNextSums(), std::move(sums));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ChooseBlocksOp)

//===- block_mask ---------------------------------------------------------===//

LogicalResult BlockMaskOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("scores", getScores(), {"H", "T", "S"})) ||
      failed(shapes.check("keys", getKeys(), {"S"})) ||
      failed(shapes.check("chosen", getChosen(), {"T", "M", "U"})))
    return failure();
  if (shapes["H"] % shapes["M"] != 0)
    return emitOpError() << "expects M to divide H = " << shapes["H"]
                         << ", but got " << shapes["M"];
  return verifyBlockLength(*this, getBlock());
}

template <typename S>
static llvm::Error evaluate(BlockMaskOp op, Frame<S> &frame) {
  Tensor<S> y = frame[op.getScores()];
  const Tensor<int32_t> &keys = frame.getIndices(op.getKeys());
  const Tensor<int32_t> &chosen = frame.getIndices(op.getChosen());
  int64_t shared = y.getDim(0) / chosen.getDim(1), block = op.getBlock();
  auto isChosen = [&](int64_t t, int64_t m, int64_t key) {
    for (int64_t u = 0; u < chosen.getDim(2); ++u)
      if (key >= 0 && chosen(t, m, u) == key / block)
        return true;
    return false;
  };
  for (int64_t h = 0; h < y.getDim(0); ++h)
    for (int64_t t = 0; t < y.getDim(1); ++t)
      for (int64_t s = 0; s < y.getDim(2); ++s)
        if (!isChosen(t, h / shared, keys(s)))
          y(h, t, s) = -std::numeric_limits<S>::infinity();
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(BlockMaskOp)
