#include "compiler/RowValues.h"

#include "dialects/seq/Seq.h"

using namespace mlir;
using namespace effc;

/// Values that one kernel joins; it may have 64 operands.
static constexpr size_t kMostJoined = 32;

RowValues::RowValues(func::FuncOp forward) : forward(forward) {
  for (Operation &op : forward.getBody().front().without_terminator()) {
    bool follows = llvm::any_of(op.getOperands(), [&](Value operand) {
      return selected.contains(operand);
    });
    if (follows || isa<seq::SelectRowsOp>(op))
      selected.insert(op.result_begin(), op.result_end());
  }
}

int64_t RowValues::countColumns(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()) || type.getRank() < 1 ||
      !type.isDynamicDim(0))
    return 0;
  int64_t columns = 1;
  for (int64_t extent : type.getShape().drop_front())
    columns *= ShapedType::isDynamic(extent) ? 0 : extent;
  return columns;
}

Value RowValues::toOutputRows(OpBuilder &builder, Value value) {
  Location loc = value.getLoc();
  bool isSelected = selected.contains(value);
  if (cast<RankedTensorType>(value.getType()).getRank() != 2)
    value = seq::ReshapeOp::create(
        builder, loc, value,
        ArrayRef<int64_t>{ShapedType::kDynamic, countColumns(value)});
  if (isSelected)
    return value;
  return seq::SelectRowsOp::create(builder, loc, value.getType(), value,
                                   forward.getArgument(1));
}

Value effc::joinRows(OpBuilder &builder, SmallVector<Value> parts) {
  while (parts.size() > 1) {
    SmallVector<Value> joined;
    for (ArrayRef<Value> rest = parts; !rest.empty();) {
      ArrayRef<Value> some =
          rest.take_front(std::min(rest.size(), kMostJoined));
      rest = rest.drop_front(some.size());
      Value one = some.front();
      if (some.size() > 1)
        one = seq::ConcatOp::create(builder, one.getLoc(), some, /*axis=*/1);
      joined.push_back(one);
    }
    parts = std::move(joined);
  }
  return parts.front();
}
