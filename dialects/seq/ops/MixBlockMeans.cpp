// seq.mix_block_means: attention over mean keys and values. arXiv:2502.11089.
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

LogicalResult MixBlockMeansOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("q", getQ(), {"T", "H", "K"})) ||
      failed(shapes.check("k", getK(), {"T", "G", "K"})) ||
      failed(shapes.check("v", getV(), {"T", "G", "V"})) ||
      failed(shapes.check("positions", getPositions(), {"T"})) ||
      failed(shapes.check("key_sums", getKeySums(), {"L", "G", "K"})) ||
      failed(shapes.check("value_sums", getValueSums(), {"L", "G", "V"})) ||
      failed(shapes.check("y", getY(), {"T", "H", "V"})))
    return failure();
  if (shapes["H"] % shapes["G"] != 0)
    return emitOpError() << "expects G to divide H = " << shapes["H"]
                         << ", but got " << shapes["G"];
  if (failed(verifyBlockLength(*this, getBlock())))
    return failure();
  if (!getScale().isFinite())
    return emitOpError() << "expects a finite 'scale', but got "
                         << getScaleAttr();
  return success();
}

SmallVector<StateDescriptor> MixBlockMeansOp::getStates() {
  auto state = [&](OpOperand &sums, Value next) -> StateDescriptor {
    return {sums.getOperandNumber(),
            cast<OpResult>(next).getResultNumber(),
            StateKind::Sum,
            StateGrowth::Fixed,
            cast<RankedTensorType>(sums.get().getType()),
            /*neutral=*/0.0,
            /*positionDependent=*/true,
            /*keepsF32=*/true,
            static_cast<int64_t>(getBlock())};
  };
  return {state(getKeySumsMutable(), getNextKeySums()),
          state(getValueSumsMutable(), getNextValueSums())};
}

OperandRole MixBlockMeansOp::getOperandRole(unsigned index) {
  return detail::roleOf(index, /*tokens=*/4, /*parameters=*/0);
}

// One head of one token that sees the blocks before `count`.
template <typename S>
static void mix(MixBlockMeansOp op, const Tensor<S> &q, const Tensor<S> &keys,
                const Tensor<S> &values, int64_t t, int64_t h, int64_t count,
                Tensor<S> &y) {
  int64_t block = op.getBlock(), g = h / (q.getDim(1) / values.getDim(1));
  S scale = S(op.getScale().convertToDouble());
  SmallVector<S> weights;
  S largest = -std::numeric_limits<S>::infinity(), total = 0;
  for (int64_t c = 0; c < count; ++c) {
    weights.push_back(meanScore(q, t, h, keys, c, block, scale));
    largest = std::max(largest, weights.back());
  }
  for (S &weight : weights)
    total += weight = std::exp(weight - largest);
  for (int64_t c = 0; c < count; ++c)
    for (int64_t i = 0; i < y.getDim(2); ++i)
      y(t, h, i) += weights[c] / total * (values(c, g, i) / S(block));
}

template <typename S>
static llvm::Error evaluate(MixBlockMeansOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()], &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()];
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  Tensor<S> keys = frame[op.getKeySums()], values = frame[op.getValueSums()];
  int64_t block = op.getBlock();
  if (llvm::Error error = expectSameRows("q", q, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "v", v))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "positions", positions))
    return error;
  if (llvm::Error error = checkBlockPositions(positions, keys.getDim(0), block))
    return error;
  Tensor<S> y({q.getDim(0), q.getDim(1), v.getDim(2)});
  for (int64_t t = 0; t < q.getDim(0); ++t) {
    int64_t p = positions(t);
    addToBlock(keys, k, t, p, block);
    addToBlock(values, v, t, p, block);
    for (int64_t h = 0; h < q.getDim(1); ++h)
      mix(op, q, keys, values, t, h, (p + 1) / block, y);
  }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextKeySums(), std::move(keys));
  frame.set(op.getNextValueSums(), std::move(values));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(MixBlockMeansOp)
