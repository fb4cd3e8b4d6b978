#include "passes/seq/OutputRows.h"

#include "dialects/seq/Seq.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace effc {
namespace {

const char *describe(Operation *choice) {
  return choice ? "a row per output row" : "a row per token";
}

bool isRunTimeSized(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || !tensor.hasStaticShape();
}

class RowCounts {
public:
  explicit RowCounts(func::FuncOp forward) : forward(forward) {
    for (BlockArgument argument : forward.getArguments())
      if (isRunTimeSized(argument.getType()))
        choices[argument] = nullptr;
  }

  LogicalResult check() {
    for (Operation &op : forward.getBody().front().without_terminator())
      if (failed(count(&op)))
        return failure();
    return checkLogits();
  }

private:
  LogicalResult count(Operation *op) {
    auto select = dyn_cast<seq::SelectRowsOp>(op);
    auto stateful = dyn_cast<seq::StatefulOpInterface>(op);
    std::optional<Operation *> choice;
    // A choice is made of tokens, and a state is left by all of them.
    if (select || (stateful && !stateful.getStates().empty()))
      choice = nullptr;
    for (OpOperand &operand : op->getOpOperands()) {
      auto found = choices.find(operand.get());
      if (found == choices.end())
        continue;
      if (!choice)
        choice = found->second;
      if (!*choice == !found->second)
        continue;
      InFlightDiagnostic error = op->emitOpError("expects operand #")
                                 << operand.getOperandNumber() << " to have "
                                 << describe(*choice) << ", but got "
                                 << describe(found->second);
      Operation *select = *choice ? *choice : found->second;
      error.attachNote(select->getLoc()) << "output rows are chosen here";
      return error;
    }
    if (select && select.getRows() == forward.getArgument(1))
      choice = select;
    if (choice)
      for (Value result : op->getResults())
        if (isRunTimeSized(result.getType()))
          choices[result] = *choice;
    return success();
  }

  LogicalResult checkLogits() {
    Value logits = forward.getBody().front().getTerminator()->getOperand(0);
    auto found = choices.find(logits);
    if (found != choices.end() && found->second)
      return success();
    InFlightDiagnostic error =
        forward.emitError("expects logits, the first result, with a row per "
                          "output row, but got ");
    if (found == choices.end())
      error << logits.getType();
    else
      error << describe(nullptr);
    BlockArgument rows = forward.getArgument(1);
    error.attachNote(rows.getLoc())
        << "'seq.select_rows' with the output rows, this argument, keeps those "
           "whose logits are wanted"
        << (rows.use_empty() ? "; nothing uses it" : "");
    return error;
  }

  func::FuncOp forward;
  /// Of each value with rows the op that chose them; null for those of tokens.
  llvm::DenseMap<Value, Operation *> choices;
};

LogicalResult checkSignature(func::FuncOp forward) {
  static constexpr const char *kNames[] = {"tokens", "output rows"};
  auto numbers = RankedTensorType::get(
      {ShapedType::kDynamic}, IntegerType::get(forward.getContext(), 32));
  for (auto [i, name] : llvm::enumerate(kNames)) {
    bool isThere = i < forward.getNumArguments();
    if (isThere && forward.getArgumentTypes()[i] == numbers)
      continue;
    InFlightDiagnostic error = forward.emitError("expects argument #")
                               << i << ", the " << name << ", to be " << numbers
                               << ", but got ";
    if (isThere)
      error << forward.getArgumentTypes()[i];
    else
      error << "none";
    error.attachNote(forward.getLoc())
        << "@forward takes tokens, output rows and, where it uses them, "
           "positions, in this order";
    return error;
  }
  if (forward.getNumResults() == 0)
    return forward.emitError(
        "expects logits as the first result, but got no result");
  return success();
}

} // namespace

LogicalResult checkOutputRows(func::FuncOp forward) {
  if (failed(checkSignature(forward)))
    return failure();
  return RowCounts(forward).check();
}

} // namespace effc
