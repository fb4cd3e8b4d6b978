#include "dialects/seq/Conditioning.h"

#include "dialects/seq/CanonicalQuantities.h"
#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace effc::seq {

/// Whether decays or exponents of a mixer of class `linear` are computed from the
/// operand of this number.
static bool isInExponent(MixerOpInterface mixer, unsigned number) {
  Block block;
  Operation *op = mixer.getOperation();
  auto stateful = cast<StatefulOpInterface>(op);
  llvm::DenseSet<Value> reached;
  SmallVector<Value> tokens, parameters;
  for (OpOperand &operand : op->getOpOperands()) {
    OperandRole role = stateful.getOperandRole(operand.getOperandNumber());
    if (role == OperandRole::State)
      continue;
    Value argument = block.addArgument(operand.get().getType(), mixer.getLoc());
    (role == OperandRole::Token ? tokens : parameters).push_back(argument);
    if (operand.getOperandNumber() == number)
      reached.insert(argument);
  }
  OpBuilder builder(mixer.getContext()); // the block stands in no region
  builder.setInsertionPointToEnd(&block);
  CanonicalQuantities all =
      mixer.buildTokenMap(builder, mixer.getLoc(), tokens, parameters);
  for (Operation &each : block)
    if (llvm::any_of(each.getOperands(),
                     [&](Value read) { return reached.contains(read); }))
      reached.insert(each.result_begin(), each.result_end());
  return llvm::any_of(ArrayRef<Value>{all.logDecay, all.valueLogDecay, all.turn,
                                      all.turnImaginary, all.logGate},
                      [&](Value value) { return reached.contains(value); });
}

static bool isMultiplied(MixerOpInterface mixer, OpOperand &read) {
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  StructureAttr structure = mixer.getStructure();
  if (structure.getMixerClass() == MixerClass::Linear)
    return !isInExponent(mixer, read.getOperandNumber());
  if (structure.getMixerClass() != MixerClass::Window)
    return false;
  WindowTokens all =
      mixer.getWindowTokens(stateful.getOperandsOf(OperandRole::Token),
                            stateful.getOperandsOf(OperandRole::Parameter));
  return llvm::is_contained({all.query, all.key, all.value, all.sinkQuery},
                            read.get());
}

/// Whether a value is the same for all tokens.
static bool isParameter(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
      if (!kernel)
        return false;
      value = kernel->getOperand(argument.getArgNumber());
    } else if (isa<ParameterOp, ConstantOp>(op)) {
      return true;
    } else if (isViewOp(op)) {
      value = op->getOperand(0);
    } else {
      return false;
    }
  }
}

bool bearsRounding(OpOperand &read) {
  Operation *op = read.getOwner();
  unsigned number = read.getOperandNumber();
  if (auto kernel = dyn_cast<KernelOp>(op))
    return bearsRounding(Value(kernel.getBody().getArgument(number)));
  if (auto yield = dyn_cast<YieldOp>(op)) {
    auto kernel = dyn_cast<KernelOp>(op->getParentOp());
    return kernel && bearsRounding(Value(kernel->getResult(number)));
  }
  if (isViewOp(op)) // what a broadcast is like is not read
    return number > 0 || bearsRounding(op->getResult(0));
  if (isDenseOp(op))
    return number == 0;
  if (auto stateful = dyn_cast<StatefulOpInterface>(op);
      stateful && stateful.getOperandRole(number) != OperandRole::Token)
    return false;
  if (auto mixer = dyn_cast<MixerOpInterface>(op))
    return isMultiplied(mixer, read);
  if (isa<AddOp>(op) && isParameter(op->getOperand(1 - number)))
    return bearsRounding(op->getResult(0));
  return op->hasTrait<OpTrait::WellConditioned>() &&
         (!isElementwiseOp(op) || bearsRounding(op->getResult(0)));
}

bool bearsRounding(Value tensor) {
  return llvm::all_of(tensor.getUses(),
                      [](OpOperand &read) { return bearsRounding(read); });
}

} // namespace effc::seq
