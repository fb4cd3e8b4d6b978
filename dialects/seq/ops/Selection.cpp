// seq.top_k, seq.best, seq.take, seq.softmax and seq.choose_rows.
#include "dialects/seq/reference/Selection.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// `shape` with `last` in place of its last extent.
static SmallVector<int64_t> withLast(ArrayRef<int64_t> shape, int64_t last) {
  SmallVector<int64_t> result(shape);
  result.back() = last;
  return result;
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

// Rows of the last axis.
static int64_t countRows(ArrayRef<int64_t> shape) {
  return countElements(shape.drop_back());
}

//===- seq.top_k ----------------------------------------------------------===//

void TopKOp::build(OpBuilder &builder, OperationState &state, Value x,
                   int64_t count) {
  SmallVector<int64_t> shape = withLast(shapeOf(x), count);
  build(builder, state, RankedTensorType::get(shape, builder.getF32Type()),
        RankedTensorType::get(shape, builder.getI32Type()), x);
}

LogicalResult TopKOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getX());
  if (shape.size() < 2)
    return emitOpError() << "expects 'x' of shape T,...,N, but got "
                         << printExtents(shape);
  ArrayRef<int64_t> values = shapeOf(getValues());
  int64_t count = values.empty() ? 0 : values.back();
  if (values.size() != shape.size() ||
      values.drop_back() != shape.drop_back() || count > shape.back())
    return emitOpError() << "expects 'values' of shape "
                         << printExtents(shape.drop_back())
                         << ", K with a K of at most " << shape.back()
                         << ", but got " << printExtents(values);
  if (shapeOf(getNumbers()) != values)
    return emitOpError() << "expects 'numbers' of the shape of 'values', "
                         << printExtents(values) << ", but got "
                         << printExtents(shapeOf(getNumbers()));
  return success();
}

template <typename S> static llvm::Error evaluate(TopKOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  int64_t width = x.getShape().back();
  int64_t count = op.getValues().getType().getShape().back();
  Tensor<S> values(withLast(x.getShape(), count));
  Tensor<int32_t> numbers(withLast(x.getShape(), count));
  for (int64_t row = 0; row < countRows(x.getShape()); ++row) {
    std::vector<ScoredRow<S>> elements;
    for (int64_t i = 0; i < width; ++i)
      elements.push_back({x.elements()[row * width + i], i});
    for (auto [j, element] :
         llvm::enumerate(best(std::move(elements), count))) {
      values.elements()[row * count + j] = element.score;
      numbers.elements()[row * count + j] = element.row;
    }
  }
  frame.set(op.getValues(), std::move(values));
  frame.set(op.getNumbers(), std::move(numbers));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(TopKOp)

//===- seq.best -----------------------------------------------------------===//

void BestOp::build(OpBuilder &builder, OperationState &state, Value x,
                   Value draws) {
  build(builder, state,
        RankedTensorType::get(withLast(shapeOf(x), 2), builder.getF32Type()), x,
        draws);
}

LogicalResult BestOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"R", "N"})))
    return failure();
  if (shapes["N"] > kMostColumns)
    return emitOpError() << "expects an N of at most " << kMostColumns
                         << ", but got " << shapes["N"];
  shapes.bind("2", 2);
  if (failed(shapes.check("y", getY(), {"R", "2"})))
    return failure();
  shapes.bind("4", kDrawWords);
  return getDraws() ? shapes.check("draws", getDraws(), {"R", "4"}) : success();
}

// What noise is of: the first word of Philox-2x32-10.
static uint32_t philox(uint32_t x, uint32_t y, uint32_t key) {
  for (int round = 0; round < 10; ++round, key += 0x9E3779B9) {
    uint64_t product = uint64_t(0xD256D193) * x;
    x = uint32_t(product >> 32) ^ key ^ y;
    y = uint32_t(product);
  }
  return x;
}

template <typename S> static S gumbel(uint32_t word) {
  S v = (S(word & 0x7FFFFFFF) + S(0.5)) / S(4294967296.0);
  return -std::log(-(word >> 31 ? std::log1p(-v) : std::log(v)));
}

// The elements of x in sums with noise, by `draws`.
template <typename S>
static llvm::Expected<Tensor<S>> withNoise(const Tensor<S> &x,
                                           const Tensor<int32_t> &draws) {
  if (llvm::Error error = expectSameRows("x", x, "draws", draws))
    return std::move(error);
  Tensor<S> sums = x;
  for (int64_t row = 0; row < x.getDim(0); ++row) {
    auto word = [&](int64_t i) { return uint32_t(draws(row, i)); };
    S scale = llvm::bit_cast<float>(word(0)),
      amount = llvm::bit_cast<float>(word(1));
    for (int64_t i = 0; i < x.getDim(1); ++i)
      sums(row, i) =
          scale * x(row, i) + amount * gumbel<S>(philox(i, word(3), word(2)));
  }
  return sums;
}

template <typename S> static llvm::Error evaluate(BestOp op, Frame<S> &frame) {
  Tensor<S> x = frame[op.getX()];
  if (op.getDraws()) {
    llvm::Expected<Tensor<S>> sums =
        withNoise(x, frame.getIndices(op.getDraws()));
    if (!sums)
      return sums.takeError();
    x = std::move(*sums);
  }
  Tensor<S> y({x.getDim(0), 2});
  for (int64_t row = 0; row < x.getDim(0); ++row) {
    std::vector<ScoredRow<S>> elements;
    for (int64_t i = 0; i < x.getDim(1); ++i)
      elements.push_back({x(row, i), i});
    ScoredRow<S> first = best(std::move(elements), 1).front();
    y(row, 0) = first.score;
    y(row, 1) = static_cast<S>(first.row);
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(BestOp)

//===- seq.take -----------------------------------------------------------===//

void TakeOp::build(OpBuilder &builder, OperationState &state, Value x,
                   Value numbers) {
  build(builder, state,
        RankedTensorType::get(shapeOf(numbers), builder.getF32Type()), x,
        numbers);
}

LogicalResult TakeOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getX()), numbers = shapeOf(getNumbers());
  if (x.empty() || numbers.size() != x.size() ||
      numbers.drop_back() != x.drop_back())
    return emitOpError() << "expects 'numbers' to agree with 'x' on all axes "
                            "but the last, but got "
                         << printExtents(numbers) << " and " << printExtents(x);
  if (shapeOf(getY()) != numbers)
    return emitOpError() << "expects 'y' of the shape of 'numbers', "
                         << printExtents(numbers) << ", but got "
                         << printExtents(shapeOf(getY()));
  return success();
}

template <typename S> static llvm::Error evaluate(TakeOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<int32_t> &numbers = frame.getIndices(op.getNumbers());
  if (llvm::Error error = expectSameRows("x", x, "numbers", numbers))
    return error;
  int64_t width = x.getShape().back(), count = numbers.getShape().back();
  Tensor<S> y(numbers.getShape());
  for (int64_t row = 0; row < countRows(x.getShape()); ++row)
    for (int64_t j = 0; j < count; ++j) {
      int32_t number = numbers.elements()[row * count + j];
      if (number < 0 || number >= width)
        return fail("expects 'numbers' in [0, " + Twine(width) + "), but got " +
                    Twine(number));
      y.elements()[row * count + j] = x.elements()[row * width + number];
    }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(TakeOp)

//===- seq.softmax --------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  if (getX().getType().getRank() == 0)
    return emitOpError() << "expects 'x' with an axis, but got a scalar";
  return success();
}

template <typename S>
static llvm::Error evaluate(SoftmaxOp op, Frame<S> &frame) {
  Tensor<S> y = frame[op.getX()];
  int64_t width = y.getShape().back();
  for (int64_t row = 0; row < countRows(y.getShape()); ++row)
    softmax<S>(y.elements().slice(row * width, width));
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(SoftmaxOp)

//===- seq.choose_rows ----------------------------------------------------===//

void ChooseRowsOp::build(OpBuilder &builder, OperationState &state,
                         Value scores, Value order, int64_t topK,
                         RetrievalWeighting weighting) {
  ArrayRef<int64_t> shape = shapeOf(scores);
  SmallVector<int64_t> chosen = {shape[0], shape[2] * topK};
  build(builder, state, RankedTensorType::get(chosen, builder.getF32Type()),
        RankedTensorType::get(chosen, builder.getI32Type()), scores, order,
        topK, weighting);
}

LogicalResult ChooseRowsOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("scores", getScores(), {"T", "A", "H", "S"})))
    return failure();
  if (shapes["A"] != 1 && shapes["A"] != 2)
    return emitOpError() << "expects 'scores' with an A of 1 or 2, but got "
                         << shapes["A"];
  if (Value order = getOrder()) {
    if (shapes["A"] != 1)
      return emitOpError() << "expects 'scores' with an A of 1 beside 'order', "
                              "but got "
                           << shapes["A"];
    if (order.getType() != getScores().getType())
      return emitOpError() << "expects 'order' of the type of 'scores', "
                           << getScores().getType() << ", but got "
                           << order.getType();
  }
  int64_t keys = shapes["S"], limit = int64_t(1) << 31;
  // Compared before it is squared, which could overflow.
  bool fits = shapes["A"] == 1 ? keys <= limit : keys <= 46340;
  if (!fits)
    return emitOpError() << "expects rows whose numbers are i32, but got "
                         << keys << " keys on each of " << shapes["A"]
                         << " axes";
  int64_t rows = shapes["A"] == 1 ? keys : keys * keys;
  int64_t topK = getTopK();
  if (topK < 1 || topK > rows)
    return emitOpError() << "expects 'top_k' from 1 to N = " << rows
                         << ", but got " << topK;
  shapes.bind("J", shapes["H"] * topK);
  if (failed(shapes.check("weights", getWeights(), {"T", "J"})))
    return failure();
  return shapes.check("rows", getRows(), {"T", "J"});
}

// The best rows of a head by candidates; `axes` holds the scores of the keys.
template <typename S>
static std::vector<ScoredRow<S>> chooseByCandidates(ArrayRef<ArrayRef<S>> axes,
                                                    int64_t topK) {
  int64_t keys = axes[0].size();
  SmallVector<std::vector<ScoredRow<S>>> ordered;
  for (ArrayRef<S> scores : axes) {
    std::vector<ScoredRow<S>> rows;
    for (auto [key, score] : llvm::enumerate(scores))
      rows.push_back({score, int64_t(key)});
    ordered.push_back(best(std::move(rows), std::min(topK, keys)));
  }
  if (axes.size() == 1)
    return ordered[0];
  std::vector<ScoredRow<S>> candidates;
  for (int64_t a = 1; a <= int64_t(ordered[0].size()); ++a)
    for (int64_t b = 1; b <= int64_t(ordered[1].size()) && a * b <= topK; ++b) {
      const ScoredRow<S> &first = ordered[0][a - 1],
                         &second = ordered[1][b - 1];
      candidates.push_back(
          {first.score + second.score, first.row * keys + second.row});
    }
  return best(std::move(candidates), topK);
}

template <typename S>
static llvm::Error evaluate(ChooseRowsOp op, Frame<S> &frame) {
  const Tensor<S> &scores = frame[op.getScores()];
  int64_t tokens = scores.getDim(0), axisCount = scores.getDim(1),
          heads = scores.getDim(2), keys = scores.getDim(3);
  int64_t topK = op.getTopK();
  Tensor<S> weights({tokens, heads * topK});
  Tensor<int32_t> rows({tokens, heads * topK});
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t h = 0; h < heads; ++h) {
      SmallVector<ArrayRef<S>> axes;
      auto axisOf = [&](const Tensor<S> &x, int64_t axis) {
        return x.elements().slice(((t * axisCount + axis) * heads + h) * keys,
                                  keys);
      };
      for (int64_t axis = 0; axis < axisCount; ++axis)
        axes.push_back(axisOf(scores, axis));
      std::vector<ScoredRow<S>> chosen =
          op.getOrder()
              ? chooseByCandidates<S>(axisOf(frame[op.getOrder()], 0), topK)
              : chooseByCandidates<S>(axes, topK);
      if (op.getOrder())
        for (ScoredRow<S> &row : chosen)
          row.score = axes[0][row.row];
      // A sum over all pairs is the product of two sums.
      std::vector<S> weight = weigh<S>(op.getWeighting(), chosen, [&] {
        S total = 0;
        for (ArrayRef<S> axis : axes)
          total += logSumExp(axis);
        return total;
      });
      for (int64_t j = 0; j < topK; ++j) {
        weights(t, h * topK + j) = weight[j];
        rows(t, h * topK + j) = chosen[j].row;
      }
    }
  frame.set(op.getWeights(), std::move(weights));
  frame.set(op.getRows(), std::move(rows));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ChooseRowsOp)
