// seq.gather_rows, seq.sum_rows, seq.expert_hidden and seq.expert_output.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// Fails unless each of `rows` is one of the `blocks` blocks of a table.
static llvm::Error checkRows(const Tensor<int32_t> &rows, int64_t blocks) {
  for (int32_t row : rows.elements())
    if (row < 0 || row >= blocks)
      return fail("expects 'rows' in [0, " + Twine(blocks) + "), but got " +
                  Twine(row));
  return llvm::Error::success();
}

// Says that the rows of an expert, or of a block, do not divide the table.
static LogicalResult verifyDivides(Operation *op, StringRef what, int64_t rows,
                                   int64_t tableRows) {
  if (tableRows % rows == 0)
    return success();
  return op->emitOpError() << "expects " << what << " to divide the "
                           << tableRows << " rows of 'table', but got " << rows;
}

//===- seq.gather_rows ----------------------------------------------------===//

void GatherRowsOp::build(OpBuilder &builder, OperationState &state, Value table,
                         Value rows, int64_t block) {
  ArrayRef<int64_t> chosen = cast<RankedTensorType>(rows.getType()).getShape();
  int64_t channels = cast<RankedTensorType>(table.getType()).getDimSize(1);
  build(builder, state,
        RankedTensorType::get({chosen[0], chosen[1], block, channels},
                              builder.getF32Type()),
        table, rows);
}

LogicalResult GatherRowsOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("rows", getRows(), {"T", "J"})) ||
      failed(shapes.check("table", getTable(), {"N", "D"})) ||
      failed(shapes.check("y", getY(), {"T", "J", "B", "D"})))
    return failure();
  return verifyDivides(*this, "B", shapes["B"], shapes["N"]);
}

template <typename S>
static llvm::Error evaluate(GatherRowsOp op, Frame<S> &frame) {
  const Tensor<S> &table = frame[op.getTable()];
  const Tensor<int32_t> &rows = frame.getIndices(op.getRows());
  int64_t block = op.getY().getType().getDimSize(2);
  int64_t size = block * table.getDim(1);
  if (llvm::Error error = checkRows(rows, table.getDim(0) / block))
    return error;
  Tensor<S> y({rows.getDim(0), rows.getDim(1), block, table.getDim(1)});
  for (int64_t i = 0; i < rows.size(); ++i)
    llvm::copy(table.elements().slice(rows.elements()[i] * size, size),
               y.elements().begin() + i * size);
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(GatherRowsOp)

//===- seq.sum_rows -------------------------------------------------------===//

void SumRowsOp::build(OpBuilder &builder, OperationState &state, Value weights,
                      Value rows, Value table) {
  int64_t tokens = cast<RankedTensorType>(rows.getType()).getDimSize(0);
  int64_t channels = cast<RankedTensorType>(table.getType()).getDimSize(1);
  build(builder, state,
        RankedTensorType::get({tokens, channels}, builder.getF32Type()),
        weights, rows, table);
}

LogicalResult SumRowsOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("weights", getWeights(), {"T", "J"})) ||
      failed(shapes.check("rows", getRows(), {"T", "J"})) ||
      failed(shapes.check("table", getTable(), {"N", "D"})))
    return failure();
  return shapes.check("y", getY(), {"T", "D"});
}

template <typename S>
static llvm::Error evaluate(SumRowsOp op, Frame<S> &frame) {
  const Tensor<S> &weights = frame[op.getWeights()];
  const Tensor<S> &table = frame[op.getTable()];
  const Tensor<int32_t> &rows = frame.getIndices(op.getRows());
  if (llvm::Error error = expectSameRows("weights", weights, "rows", rows))
    return error;
  if (llvm::Error error = checkRows(rows, table.getDim(0)))
    return error;
  Tensor<S> y({rows.getDim(0), table.getDim(1)});
  for (int64_t t = 0; t < rows.getDim(0); ++t)
    for (int64_t j = 0; j < rows.getDim(1); ++j)
      for (int64_t d = 0; d < table.getDim(1); ++d)
        y(t, d) += weights(t, j) * table(rows(t, j), d);
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(SumRowsOp)

//===- seq.expert_hidden --------------------------------------------------===//

LogicalResult ExpertHiddenOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"T", "D"})) ||
      failed(shapes.check("weights", getWeights(), {"T", "J"})) ||
      failed(shapes.check("rows", getRows(), {"T", "J"})) ||
      failed(shapes.check("table", getTable(), {"N", "D"})) ||
      failed(shapes.check("hidden", getHidden(), {"T", "J", "F"})))
    return failure();
  if (getGated() && getWeightInside())
    return emitOpError() << "expects 'gated' or 'weight_inside', but got both";
  return verifyDivides(*this, "an expert's rows", getRowsPerExpert(),
                       shapes["N"]);
}

template <typename S>
static llvm::Error evaluate(ExpertHiddenOp op, Frame<S> &frame) {
  Tensor<S> x = frame.asMultiplied(op.getX(), op.getTable());
  const Tensor<S> &weights = frame[op.getWeights()];
  const Tensor<S> &table = frame[op.getTable()];
  const Tensor<int32_t> &rows = frame.getIndices(op.getRows());
  if (llvm::Error error = expectSameRows("x", x, "weights", weights))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "rows", rows))
    return error;
  int64_t perExpert = op.getRowsPerExpert();
  if (llvm::Error error = checkRows(rows, table.getDim(0) / perExpert))
    return error;
  int64_t units = op.getHidden().getType().getDimSize(2);
  Nonlinearity nonlinearity = op.getNonlinearity();
  auto dot = [&](int64_t t, int64_t row) {
    S sum = 0;
    for (int64_t d = 0; d < x.getDim(1); ++d)
      sum += x(t, d) * table(row, d);
    return sum;
  };
  Tensor<S> hidden({rows.getDim(0), rows.getDim(1), units});
  for (int64_t t = 0; t < rows.getDim(0); ++t)
    for (int64_t j = 0; j < rows.getDim(1); ++j)
      for (int64_t unit = 0; unit < units; ++unit) {
        int64_t row = rows(t, j) * perExpert + unit;
        S sum = dot(t, row), weight = weights(t, j);
        hidden(t, j, unit) =
            op.getWeightInside() ? apply(nonlinearity, weight * sum)
            : op.getGated()
                ? weight * apply(nonlinearity, sum) * dot(t, row + units)
                : weight * apply(nonlinearity, sum);
      }
  frame.set(op.getHidden(), std::move(hidden));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ExpertHiddenOp)

//===- seq.expert_output --------------------------------------------------===//

LogicalResult ExpertOutputOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("hidden", getHidden(), {"T", "J", "F"})) ||
      failed(shapes.check("rows", getRows(), {"T", "J"})) ||
      failed(shapes.check("table", getTable(), {"N", "F"})) ||
      failed(shapes.check("y", getY(), {"T", "O"})))
    return failure();
  return verifyDivides(*this, "O", shapes["O"], shapes["N"]);
}

template <typename S>
static llvm::Error evaluate(ExpertOutputOp op, Frame<S> &frame) {
  Tensor<S> hidden = frame.asMultiplied(op.getHidden(), op.getTable());
  const Tensor<S> &table = frame[op.getTable()];
  const Tensor<int32_t> &rows = frame.getIndices(op.getRows());
  if (llvm::Error error = expectSameRows("hidden", hidden, "rows", rows))
    return error;
  int64_t outputs = op.getY().getType().getDimSize(1);
  if (llvm::Error error = checkRows(rows, table.getDim(0) / outputs))
    return error;
  Tensor<S> y({rows.getDim(0), outputs});
  for (int64_t t = 0; t < rows.getDim(0); ++t)
    for (int64_t j = 0; j < rows.getDim(1); ++j)
      for (int64_t o = 0; o < outputs; ++o)
        for (int64_t unit = 0; unit < table.getDim(1); ++unit)
          y(t, o) += table(rows(t, j) * outputs + o, unit) * hidden(t, j, unit);
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ExpertOutputOp)
