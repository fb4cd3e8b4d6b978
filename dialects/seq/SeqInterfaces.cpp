// What holds for every op, and for every stateful one, whatever its name.
#include "dialects/seq/SeqInterfaces.h"

#include "dialects/seq/NearestWord.h"
#include "dialects/seq/ShapeFormula.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace effc::seq;

#include "dialects/seq/SeqInterfaces.cpp.inc"

SmallVector<Value> effc::seq::detail::operandsOf(Operation *op,
                                                 OperandRole role) {
  auto stateful = cast<StatefulOpInterface>(op);
  SmallVector<Value> values;
  for (OpOperand &operand : op->getOpOperands())
    if (stateful.getOperandRole(operand.getOperandNumber()) == role)
      values.push_back(operand.get());
  return values;
}

SmallVector<OpResult> effc::seq::detail::tokenResults(Operation *op) {
  SmallVector<StateDescriptor> states =
      cast<StatefulOpInterface>(op).getStates();
  return llvm::filter_to_vector(op->getOpResults(), [&](OpResult result) {
    return llvm::none_of(states, [&](const StateDescriptor &state) {
      return state.result == result.getResultNumber();
    });
  });
}

OperandRole effc::seq::detail::roleOf(unsigned index, unsigned tokens,
                                      unsigned parameters) {
  return index < tokens                ? OperandRole::Token
         : index < tokens + parameters ? OperandRole::Parameter
                                       : OperandRole::State;
}

// STATEFUL1 and STATEFUL2.
static LogicalResult verifyStates(StatefulOpInterface op) {
  llvm::SmallDenseSet<unsigned> described;
  for (const StateDescriptor &state : op.getStates()) {
    described.insert(state.operand);
    Type before = op->getOperand(state.operand).getType();
    Type after = op->getResult(state.result).getType();
    if (before != state.type || after != state.type)
      return op->emitOpError()
             << "expects state operand #" << state.operand << " and result #"
             << state.result << " of type " << state.type << ", but got "
             << before << " and " << after;
  }
  for (unsigned index = 0; index < op->getNumOperands(); ++index) {
    bool isState = op.getOperandRole(index) == OperandRole::State;
    if (isState != described.contains(index))
      return op->emitOpError()
             << "expects a descriptor for each state operand and for no other, "
                "but got operand #"
             << index << (isState ? " without one" : " with one");
  }
  return success();
}

// STATEFUL3.
static LogicalResult verifyTokens(StatefulOpInterface op) {
  std::optional<int64_t> tokens;
  auto agrees = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 0)
      return false;
    if (!tokens)
      tokens = type.getDimSize(0);
    return *tokens == type.getDimSize(0);
  };
  SmallVector<Value> values = op.getOperandsOf(OperandRole::Token);
  llvm::append_range(values, op.getTokenResults());
  for (Value value : values)
    if (!agrees(value))
      return op->emitOpError()
             << "expects token operands and results with one leading T"
             << (tokens ? " = " + printExtent(*tokens) : "") << ", but got "
             << value.getType();
  return success();
}

LogicalResult effc::seq::detail::verifyAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name.contains('.'))
      continue;
    InFlightDiagnostic error = op->emitOpError("has no attribute '")
                               << name << "'";
    // Of its own attributes the one that takes the fewest changes.
    NearestWord nearest(name, name.size() / 2);
    for (StringAttr known : op->getName().getAttributeNames())
      nearest.consider(known);
    if (!nearest.get().empty())
      error.attachNote() << "did you mean '" << nearest.get() << "'?";
    return error;
  }
  return success();
}

LogicalResult effc::seq::detail::verifyStatefulOp(Operation *op) {
  auto stateful = cast<StatefulOpInterface>(op);
  if (failed(verifyStates(stateful)))
    return failure();
  return verifyTokens(stateful);
}
