#include "passes/seq_to_tile/builders/dense/JointProducts.h"

#include "passes/kernel_facts/LaunchCost.h"
#include "passes/kernel_facts/SingleRows.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace effc;

// What a kernel is given that an operand of its product is, or is a view of; null where
// the kernel computes it.
static Value givenTo(seq::KernelOp kernel, Value operand) {
  while (isa_and_nonnull<seq::SliceOp, seq::ReshapeOp>(operand.getDefiningOp()))
    operand = operand.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(operand);
  return argument ? kernel.getInputs()[argument.getArgNumber()] : Value();
}

// Whether a kernel reads what another gives, or what is made of it.
static bool needs(seq::KernelOp kernel, seq::KernelOp other) {
  SmallVector<Operation *> waiting = {kernel};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!waiting.empty())
    for (Value input : waiting.pop_back_val()->getOperands()) {
      Operation *made = input.getDefiningOp();
      if (made == other)
        return true;
      if (made && other->isBeforeInBlock(made) && seen.insert(made).second)
        waiting.push_back(made);
    }
  return false;
}

SmallVector<int64_t> effc::jointOutputs(Operation *product,
                                        const CallContext &call) {
  DenseShape own = DenseShape::of(product);
  SmallVector<int64_t> outputs = {own.outputs};
  auto kernel = product->getParentOfType<seq::KernelOp>();
  Value rows = givenTo(kernel, product->getOperand(0));
  if (!rows || call.kind != seq::EntryKind::Decode ||
      !takesLaunches(call.target))
    return outputs;
  llvm::SmallPtrSet<Operation *, 8> seen = {kernel};
  for (Operation *user : rows.getUsers()) {
    auto other = dyn_cast<seq::KernelOp>(user);
    if (!other || !seen.insert(other).second || needs(other, kernel) ||
        needs(kernel, other))
      continue;
    auto beside = dyn_cast_or_null<seq::LinearOp>(other.getRootOp());
    if (beside && givenTo(other, beside.getX()) == rows &&
        DenseShape::of(beside).inner == own.inner)
      outputs.push_back(DenseShape::of(beside).outputs);
  }
  return outputs;
}
