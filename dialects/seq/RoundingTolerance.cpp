#include "dialects/seq/RoundingTolerance.h"

#include "dialects/seq/OpKinds.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/TokenMapReach.h"

using namespace mlir;

namespace effc::seq {

/// The `seq.parameter`, or the constant, that a value is a view of, in a seq.kernel
/// as well; null: it is none.
static Operation *parameterOf(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto kernel =
          dyn_cast_or_null<KernelOp>(argument.getOwner()->getParentOp());
      if (!kernel)
        return nullptr;
      value = kernel->getOperand(argument.getArgNumber());
    } else if (isa<ParameterOp, ConstantOp>(op)) {
      return op;
    } else if (isViewOp(op)) {
      value = op->getOperand(0);
    } else {
      return nullptr;
    }
  }
}

/// Whether an op of a token map keeps a small relative change of what it reads small:
/// what else is added or subtracted is the same for all tokens.
static bool keepsSmall(const TokenMapReach &reach, Operation *op, Value read) {
  if (isa<AddOp, SubOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return operand == read || reach.isFixed(operand);
    });
  return isa<ContractOp>(op) || isViewOp(op) ||
         op->hasTrait<OpTrait::WellConditioned>();
}

// Products of a recurrence's tokens, as `seq.linear` of rows.
static bool isMultiplied(MixerOpInterface mixer, unsigned operand) {
  // What a written step makes of a token when it reads out is not known.
  if (isa<RecurrenceOp>(mixer.getOperation()))
    return false;
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  // Running sums and products, which every rounding stays in.
  if (llvm::any_of(stateful.getStates(),
                   [](const StateDescriptor &state) { return state.keepsF32; }))
    return false;
  TokenMapReach reach(mixer, operand);
  const CanonicalQuantities &all = reach.getQuantities();
  return !reach.reaches({all.logDecay, all.valueLogDecay, all.turn,
                         all.turnImaginary, all.logGate}) &&
         reach.areAll([&](Operation *op, Value read) {
           return keepsSmall(reach, op, read);
         });
}

static bool isTolerant(MixerOpInterface mixer, OpOperand &read) {
  StructureAttr structure = mixer.getStructure();
  if (structure.getMixerClass() == MixerClass::Linear)
    return isMultiplied(mixer, read.getOperandNumber());
  if (structure.getMixerClass() != MixerClass::Window)
    return false;
  auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
  WindowTokens all =
      mixer.getWindowTokens(stateful.getOperandsOf(OperandRole::Token),
                            stateful.getOperandsOf(OperandRole::Parameter));
  return llvm::is_contained({all.query, all.key, all.value, all.sinkQuery},
                            read.get());
}

/// Whether an op with the trait has it here: a mean that is taken away cancels, and so
/// do taps that a rule gives, such as those of a difference.
static bool isWellConditioned(Operation *op) {
  if (auto norm = dyn_cast<GroupNormOp>(op); norm && norm.getCentred())
    return false;
  if (auto convolution = dyn_cast<ShortConvolutionOp>(op)) {
    auto taps =
        dyn_cast_or_null<ParameterOp>(parameterOf(convolution.getWeight()));
    auto weight = taps ? SymbolTable::lookupNearestSymbolFrom<WeightOp>(
                             taps, taps.getWeightAttr())
                       : WeightOp();
    if (weight && weight.getComputed())
      return false;
  }
  return op->hasTrait<OpTrait::WellConditioned>();
}

bool RoundingTolerance::ofRead(OpOperand &read) {
  Operation *op = read.getOwner();
  unsigned number = read.getOperandNumber();
  if (auto kernel = dyn_cast<KernelOp>(op))
    return ofReads(kernel.getBody().getArgument(number));
  if (auto yield = dyn_cast<YieldOp>(op)) {
    auto kernel = dyn_cast<KernelOp>(op->getParentOp());
    return kernel && ofReads(kernel->getResult(number));
  }
  if (isViewOp(op)) // what a broadcast is like is not read
    return number > 0 || ofReads(op->getResult(0));
  if (isDenseOp(op))
    return number == 0;
  if (auto stateful = dyn_cast<StatefulOpInterface>(op);
      stateful && stateful.getOperandRole(number) != OperandRole::Token)
    return false;
  if (auto mixer = dyn_cast<MixerOpInterface>(op))
    return isTolerant(mixer, read);
  if (isa<AddOp>(op) && parameterOf(op->getOperand(1 - number)))
    return ofReads(op->getResult(0));
  return isWellConditioned(op) &&
         (!isElementwiseOp(op) || ofReads(op->getResult(0)));
}

bool RoundingTolerance::ofReads(Value tensor) {
  if (auto answer = known.find(tensor); answer != known.end())
    return answer->second;
  bool all = llvm::all_of(tensor.getUses(),
                          [&](OpOperand &read) { return ofRead(read); });
  known[tensor] = all;
  return all;
}

} // namespace effc::seq
