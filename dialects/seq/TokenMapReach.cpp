#include "dialects/seq/TokenMapReach.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

// A broadcast reads no more of what it is like than its shape.
static SmallVector<Value> readBy(Operation &op) {
  SmallVector<Value> read(op.getOperands());
  if (isViewOp(&op))
    read.truncate(1);
  return read;
}

TokenMapReach::TokenMapReach(MixerOpInterface mixer, unsigned operand) {
  Operation *op = mixer.getOperation();
  auto stateful = cast<StatefulOpInterface>(op);
  OpBuilder builder(op->getContext());
  Block *block = builder.createBlock(&region);
  SmallVector<Value> tokens, parameters;
  for (OpOperand &each : op->getOpOperands()) {
    OperandRole role = stateful.getOperandRole(each.getOperandNumber());
    if (role == OperandRole::State)
      continue;
    Value argument = block->addArgument(each.get().getType(), op->getLoc());
    if (role == OperandRole::Token) {
      tokens.push_back(argument);
    } else {
      parameters.push_back(argument);
      fixed.insert(argument);
    }
    if (each.getOperandNumber() == operand)
      reached.insert(argument);
  }
  quantities = mixer.buildTokenMap(builder, op->getLoc(), tokens, parameters);
  for (Operation &each : *block) {
    SmallVector<Value> read = readBy(each);
    if (reaches(read))
      reached.insert(each.result_begin(), each.result_end());
    if (llvm::all_of(read, [&](Value value) { return isFixed(value); }))
      fixed.insert(each.result_begin(), each.result_end());
  }
}

bool TokenMapReach::reaches(ArrayRef<Value> values) const {
  return llvm::any_of(values,
                      [&](Value value) { return reached.contains(value); });
}

bool TokenMapReach::areAll(
    llvm::function_ref<bool(Operation *, Value)> passes) const {
  for (Operation &op : const_cast<Region &>(region).front())
    for (Value read : readBy(op))
      if (reached.contains(read) && !passes(&op, read))
        return false;
  return true;
}

} // namespace effc::seq
