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

// The kernels of products that read such rows and sum up as many terms, in order.
static SmallVector<seq::KernelOp> productsOf(Value rows, int64_t terms) {
  SmallVector<seq::KernelOp> products;
  llvm::SmallPtrSet<Operation *, 8> seen;
  for (Operation *user : rows.getUsers()) {
    auto kernel = dyn_cast<seq::KernelOp>(user);
    if (!kernel || !seen.insert(kernel).second)
      continue;
    auto linear = dyn_cast_or_null<seq::LinearOp>(kernel.getRootOp());
    if (linear && givenTo(kernel, linear.getX()) == rows &&
        DenseShape::of(linear).inner == terms)
      products.push_back(kernel);
  }
  llvm::sort(products, [](seq::KernelOp a, seq::KernelOp b) {
    return a->isBeforeInBlock(b);
  });
  return products;
}

SmallVector<int64_t> effc::jointOutputs(Operation *product,
                                        const CallContext &call) {
  DenseShape own = DenseShape::of(product);
  auto kernel = product->getParentOfType<seq::KernelOp>();
  Value rows = givenTo(kernel, product->getOperand(0));
  if (!isa<seq::LinearOp>(product) || !rows ||
      call.kind != seq::EntryKind::Decode || !takesLaunches(call.target))
    return {own.outputs};
  // As JoinLaunches does it: the first takes all that can be with it, then the first of
  // those that are left.
  SmallVector<seq::KernelOp> left = productsOf(rows, own.inner), joint;
  if (!llvm::is_contained(left, kernel)) // another op is its root
    return {own.outputs};
  while (!llvm::is_contained(joint, kernel)) {
    joint.clear();
    for (seq::KernelOp next : left)
      if (llvm::none_of(
              joint, [&](seq::KernelOp first) { return needs(next, first); }))
        joint.push_back(next);
    llvm::erase_if(left, [&](seq::KernelOp one) {
      return llvm::is_contained(joint, one);
    });
  }
  return llvm::map_to_vector(joint, [](seq::KernelOp one) {
    return DenseShape::of(one.getRootOp()).outputs;
  });
}
