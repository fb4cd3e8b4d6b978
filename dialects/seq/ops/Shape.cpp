// seq.slice, seq.reshape, seq.concat and seq.broadcast: elements move, nothing
// is computed.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <algorithm>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// Reports a shape that is not the expected one.
static LogicalResult expectShape(Operation *op, StringRef name, Value value,
                                 ArrayRef<int64_t> expected) {
  ArrayRef<int64_t> found = cast<RankedTensorType>(value.getType()).getShape();
  if (found == expected)
    return success();
  return op->emitOpError() << "expects '" << name << "' of shape "
                           << printExtents(expected) << ", but got "
                           << printExtents(found);
}

// An axis must be one of `rank`.
static LogicalResult expectAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return op->emitOpError() << "expects 'axis' in [0, " << rank << "), but got "
                           << axis;
}

//===- slice --------------------------------------------------------------===//

void SliceOp::build(OpBuilder &builder, OperationState &state, Value x,
                    int64_t axis, int64_t offset, int64_t size) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  build(builder, state, type.clone(shape), x, axis, offset, size);
}

LogicalResult SliceOp::verify() {
  RankedTensorType type = getX().getType();
  int64_t axis = getAxis(), offset = getOffset(), size = getSize();
  if (failed(expectAxis(*this, axis, type.getRank())))
    return failure();
  if (offset < 0 || size < 1)
    return emitOpError() << "expects 'offset' of at least 0 and 'size' of at "
                            "least 1, but got "
                         << offset << " and " << size;
  if (!type.isDynamicDim(axis) && offset + size > type.getDimSize(axis)) {
    InFlightDiagnostic error = emitOpError()
                               << "expects 'offset' + 'size' of at most "
                               << type.getDimSize(axis) << " on axis " << axis
                               << ", but got " << offset + size;
    if (getX().getDefiningOp<LinearOp>())
      error.attachNote() << "'x' is a projection of " << type.getDimSize(axis)
                         << " outputs: its weight perhaps lacks rows, or a "
                            "slice before this one is too long";
    return error;
  }
  if (axis != 0 && !isValueTensor(type)) // slice5
    return emitOpError()
           << "expects a matrix of weights to be sliced along its "
              "rows, axis 0, but got axis "
           << axis;
  if (getY().getType().getElementType() != type.getElementType())
    return emitOpError() << "expects 'y' with elements of "
                         << type.getElementType() << ", but got "
                         << getY().getType().getElementType();
  SmallVector<int64_t> expected(type.getShape());
  expected[axis] = size;
  return expectShape(*this, "y", getY(), expected);
}

// The elements that lie together between two steps along an axis.
static int64_t elementsBehind(ArrayRef<int64_t> shape, int64_t axis) {
  return countElements(shape.drop_front(axis + 1));
}

// The slice of numbers or of positions.
template <typename E>
static llvm::Expected<Tensor<E>> sliceOf(SliceOp op, const Tensor<E> &x) {
  int64_t axis = op.getAxis(), offset = op.getOffset();
  if (offset + int64_t(op.getSize()) > x.getDim(axis))
    return fail("expects 'x' with at least " + Twine(offset + op.getSize()) +
                " rows, but got " + Twine(x.getDim(axis)));
  SmallVector<int64_t> shape(x.getShape());
  shape[axis] = op.getSize();
  Tensor<E> y(shape);
  int64_t behind = elementsBehind(shape, axis), run = shape[axis] * behind;
  const E *from = x.elements().data() + offset * behind;
  E *to = y.elements().data();
  for (int64_t left = y.size(); left > 0; left -= run) {
    to = std::copy_n(from, run, to);
    from += x.getDim(axis) * behind;
  }
  return y;
}

template <typename S> static llvm::Error evaluate(SliceOp op, Frame<S> &frame) {
  return std::visit(
      [&](const auto &x) -> llvm::Error {
        auto y = sliceOf(op, x);
        if (!y)
          return y.takeError();
        frame.set(op.getY(), std::move(*y));
        return llvm::Error::success();
      },
      frame.getDatum(op.getX()));
}
EFFC_SEQ_REFERENCE(SliceOp)

//===- reshape ------------------------------------------------------------===//

void ReshapeOp::build(OpBuilder &builder, OperationState &state, Value x,
                      ArrayRef<int64_t> shape) {
  build(builder, state, cast<RankedTensorType>(x.getType()).clone(shape), x);
}

// What probably led to a reshape of other elements.
static std::string causeOf(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  bool splitsHeads = from.size() == 2 && to.size() == 3 && from[0] == to[0];
  if (splitsHeads && from[1] % to[1] != 0)
    return (Twine(from[1]) + " channels do not divide into " + Twine(to[1]) +
            " heads")
        .str();
  if (splitsHeads)
    return ("of " + Twine(from[1]) + " channels each of " + Twine(to[1]) +
            " heads has " + Twine(from[1] / to[1]))
        .str();
  bool wasDynamic = !from.empty() && ShapedType::isDynamic(from[0]);
  bool isDynamic = !to.empty() && ShapedType::isDynamic(to[0]);
  return wasDynamic == isDynamic
             ? ""
             : "T is the number of tokens, which a model's text leaves open";
}

LogicalResult ReshapeOp::verify() {
  ArrayRef<int64_t> from = getX().getType().getShape();
  ArrayRef<int64_t> to = getY().getType().getShape();
  auto leadsWithDynamic = [](ArrayRef<int64_t> shape) {
    return !shape.empty() && ShapedType::isDynamic(shape.front());
  };
  bool dynamic = leadsWithDynamic(from);
  auto elements = [](ArrayRef<int64_t> shape, bool dynamic) {
    return countElements(dynamic ? shape.drop_front() : shape);
  };
  if (dynamic == leadsWithDynamic(to) &&
      elements(from, dynamic) == elements(to, dynamic))
    return success();
  InFlightDiagnostic error =
      emitOpError() << "expects 'y' with the elements of 'x', a dynamic T "
                       "leading both, but got "
                    << printExtents(from) << " and " << printExtents(to);
  if (std::string cause = causeOf(from, to); !cause.empty())
    error.attachNote() << cause;
  return error;
}

template <typename S>
static llvm::Error evaluate(ReshapeOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  SmallVector<int64_t> shape(op.getY().getType().getShape());
  if (!shape.empty() && ShapedType::isDynamic(shape.front()))
    shape.front() = x.getDim(0);
  frame.set(op.getY(), Tensor<S>(shape, x.elements().vec()));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ReshapeOp)

//===- concat -------------------------------------------------------------===//

// The sum of two extents, dynamic where one of them is.
static int64_t addExtents(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b)
             ? ShapedType::kDynamic
             : a + b;
}

void ConcatOp::build(OpBuilder &builder, OperationState &state, ValueRange xs,
                     int64_t axis) {
  auto type = cast<RankedTensorType>(xs.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  for (Type other : xs.drop_front().getTypes())
    shape[axis] =
        addExtents(shape[axis], cast<RankedTensorType>(other).getDimSize(axis));
  build(builder, state, type.clone(shape), xs, axis);
}

LogicalResult ConcatOp::verify() {
  if (getXs().empty())
    return emitOpError() << "expects at least 1 operand, but got 0";
  int64_t axis = getAxis();
  SmallVector<int64_t> expected(
      cast<RankedTensorType>(getXs().front().getType()).getShape());
  if (failed(expectAxis(*this, axis, expected.size())))
    return failure();
  for (auto [index, operand] : llvm::enumerate(getXs().drop_front())) {
    auto type = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> shape(type.getShape());
    int64_t extent = type.getRank() > axis ? shape[axis] : 0;
    bool agrees = shape.size() == expected.size();
    for (size_t other = 0; agrees && other < shape.size(); ++other)
      agrees = int64_t(other) == axis || shape[other] == expected[other];
    if (!agrees)
      return emitOpError() << "expects operands that differ on axis " << axis
                           << " alone, but got " << printExtents(expected)
                           << " up to operand #" << index << " and then "
                           << printExtents(shape);
    expected[axis] = addExtents(expected[axis], extent);
  }
  return expectShape(*this, "y", getY(), expected);
}

template <typename S>
static llvm::Error evaluate(ConcatOp op, Frame<S> &frame) {
  int64_t axis = op.getAxis();
  SmallVector<int64_t> shape(frame[op.getXs().front()].getShape());
  shape[axis] = 0;
  for (Value operand : op.getXs())
    shape[axis] += frame[operand].getDim(axis);
  Tensor<S> y(shape);
  int64_t behind = elementsBehind(shape, axis), offset = 0;
  for (Value operand : op.getXs()) {
    const Tensor<S> &x = frame[operand];
    int64_t run = x.getDim(axis) * behind;
    const S *from = x.elements().data();
    S *to = y.elements().data() + offset;
    for (int64_t left = x.size(); left > 0; left -= run) {
      std::copy_n(from, run, to);
      from += run;
      to += shape[axis] * behind;
    }
    offset += run;
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ConcatOp)

//===- broadcast ----------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = getX().getType();
  RankedTensorType to = getLike().getType();
  ArrayRef<int64_t> dimensions = getDimensions();
  bool increasing = llvm::is_sorted(dimensions, std::less_equal<>());
  bool inRange = llvm::all_of(dimensions, [&](int64_t dimension) {
    return dimension >= 0 && dimension < to.getRank();
  });
  if (int64_t(dimensions.size()) != from.getRank() || !increasing || !inRange)
    return emitOpError() << "expects 'dimensions' to be " << from.getRank()
                         << " increasing axes in [0, " << to.getRank()
                         << "), but got [" << dimensions << "]";
  SmallVector<int64_t> expected;
  for (int64_t dimension : dimensions)
    expected.push_back(to.getDimSize(dimension));
  return expectShape(*this, "x", getX(), expected);
}

template <typename S>
static llvm::Error evaluate(BroadcastOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  Tensor<S> y(frame[op.getLike()].getShape());
  ArrayRef<int64_t> dimensions = op.getDimensions();
  for (auto [axis, dimension] : llvm::enumerate(dimensions))
    if (x.getDim(axis) != y.getDim(dimension))
      return fail("expects 'x' with " + Twine(y.getDim(dimension)) +
                  " on axis " + Twine(axis) + ", but got " +
                  Twine(x.getDim(axis)));
  if (y.size() != 0) {
    Point point(y.getShape());
    S *to = y.elements().data();
    do {
      int64_t source = 0;
      for (auto [axis, dimension] : llvm::enumerate(dimensions))
        source = source * x.getDim(axis) + point.index[dimension];
      *to++ = x.elements()[source];
    } while (point.next());
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(BroadcastOp)
