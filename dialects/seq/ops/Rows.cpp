// seq.embedding and seq.select_rows: rows by number.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult EmbeddingOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("tokens", getTokens(), {"T"})) ||
      failed(shapes.check("table", getTable(), {"N", "D"})))
    return failure();
  return shapes.check("y", getY(), {"T", "D"});
}

LogicalResult SelectRowsOp::verify() {
  ArrayRef<int64_t> shape = getX().getType().getShape();
  if (shape.empty())
    return emitOpError() << "expects 'x' of shape T,..., but got a scalar";
  SmallVector<int64_t> expected(shape);
  expected.front() = getRows().getType().getDimSize(0);
  if (getY().getType().getShape() != ArrayRef(expected))
    return emitOpError() << "expects 'y' of shape R,... = "
                         << printExtents(expected) << ", but got "
                         << printExtents(getY().getType().getShape());
  return success();
}

// Rows of `table` by number; `what` names the numbers in an error.
template <typename S>
static llvm::Expected<Tensor<S>>
gather(const Tensor<S> &table, const Tensor<int32_t> &numbers, StringRef what) {
  SmallVector<int64_t> shape(table.getShape());
  int64_t rowSize = table.size() / std::max<int64_t>(shape.front(), 1);
  shape.front() = numbers.size();
  Tensor<S> rows(shape);
  for (int64_t row = 0; row < numbers.size(); ++row) {
    int32_t number = numbers(row);
    if (number < 0 || number >= table.getDim(0))
      return fail("expects '" + what + "' in [0, " + Twine(table.getDim(0)) +
                  "), but got " + Twine(number));
    llvm::copy(table.elements().slice(number * rowSize, rowSize),
               rows.elements().begin() + row * rowSize);
  }
  return rows;
}

template <typename S>
static llvm::Error evaluate(EmbeddingOp op, Frame<S> &frame) {
  llvm::Expected<Tensor<S>> rows =
      gather(frame[op.getTable()], frame.getIndices(op.getTokens()), "tokens");
  if (!rows)
    return rows.takeError();
  frame.set(op.getY(), std::move(*rows));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(EmbeddingOp)

template <typename S>
static llvm::Error evaluate(SelectRowsOp op, Frame<S> &frame) {
  llvm::Expected<Tensor<S>> rows =
      gather(frame[op.getX()], frame.getIndices(op.getRows()), "rows");
  if (!rows)
    return rows.takeError();
  frame.set(op.getY(), std::move(*rows));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(SelectRowsOp)
